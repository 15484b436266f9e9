package io.carillon.cli.client;

import io.carillon.cli.shell.Secrets;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which server, and with which key. The key of a profile is sent to the server of that profile and to no other.
 *
 * @param from where the address came from, for messages
 */
public record Endpoint(URI url, Optional<String> key, String from) {
    private static final String USUAL = "http://127.0.0.1:8080";

    /** What the caller said by flags. */
    public record Flags(
            @Nullable String profile,
            @Nullable String url,
            @Nullable String keyFile) {}

    /** Flags come first, then variables, then the profile in use. */
    public static Endpoint of(Shell shell, Flags flags) {
        Optional<String> key = key(shell, flags);
        if (flags.url() != null) return new Endpoint(address(flags.url()), key, "--url");
        if (flags.profile() != null) return of(Profiles.of(shell).get(flags.profile()), flags, key);
        Optional<String> url = shell.variable("CARILLON_URL");
        if (url.isPresent()) return new Endpoint(address(url.get()), key, "CARILLON_URL");
        Profiles profiles = Profiles.of(shell);
        Optional<String> name = shell.variable("CARILLON_PROFILE").or(profiles::current);
        if (name.isPresent()) return of(profiles.get(name.get()), flags, key);
        return new Endpoint(address(USUAL), key, "the default");
    }

    private static Endpoint of(Profiles.Profile profile, Flags flags, Optional<String> told) {
        Optional<String> own = Optional.ofNullable(profile.key());
        // A profile somebody named brings its own key; only a flag comes before it.
        boolean named = profile.name().equals(flags.profile()) && flags.keyFile() == null;
        return new Endpoint(
                address(profile.url()), named ? own.or(() -> told) : told.or(() -> own), "profile " + profile.name());
    }

    private static Optional<String> key(Shell shell, Flags flags) {
        if (flags.keyFile() != null) return Optional.of(Secrets.read("--key-file", flags.keyFile()));
        return shell.variable("CARILLON_KEY")
                .or(() -> shell.variable("CARILLON_KEY_FILE").map(file -> Secrets.read("CARILLON_KEY_FILE", file)));
    }

    /** Reads the address of a server. */
    public static URI address(String text) {
        try {
            URI url = URI.create(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
            boolean http = "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
            if (http && url.getHost() != null && url.getUserInfo() == null && url.getQuery() == null) return url;
        } catch (IllegalArgumentException odd) {
            throw new UsageException(wrong(text), odd);
        }
        throw new UsageException(wrong(text));
    }

    private static String wrong(String text) {
        return "'%s' is no address of a server. Write it as http://host:8080 or https://host.".formatted(text);
    }

    @Override
    public String toString() {
        return url + " (" + from + ")";
    }
}
