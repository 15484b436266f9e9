package io.carillon.cli.client;

import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A server and the API key for it. The key of a profile is sent only to the server of that profile.
 *
 * @param source the source of the address, for messages
 */
public record ServerConnection(URI url, Optional<String> key, String source) {
    private static final String DEFAULT_URL = "http://127.0.0.1:8080";

    /** The options of the caller; null if not given. */
    public record Flags(
            @Nullable String profile,
            @Nullable String url,
            @Nullable String keyFile) {}

    /** Returns the server to use. Options override variables, and these override the current profile. */
    public static ServerConnection of(Shell shell, Flags flags) {
        Optional<String> key = key(shell, flags);
        if (flags.url() != null) return new ServerConnection(parseUrl(flags.url()), key, "--url");
        if (flags.profile() != null) return of(Profiles.of(shell).get(flags.profile()), flags, key);
        Optional<String> url = shell.variable("CARILLON_URL");
        if (url.isPresent()) return new ServerConnection(parseUrl(url.get()), key, "CARILLON_URL");
        Profiles profiles = Profiles.of(shell);
        Optional<String> name = shell.variable("CARILLON_PROFILE").or(profiles::current);
        if (name.isPresent()) return of(profiles.get(name.get()), flags, key);
        return new ServerConnection(parseUrl(DEFAULT_URL), key, "the default");
    }

    private static ServerConnection of(Profiles.Profile profile, Flags flags, Optional<String> givenKey) {
        Optional<String> own = Optional.ofNullable(profile.key());
        // A profile given with --profile uses its own key; only --key-file overrides it.
        boolean named = profile.name().equals(flags.profile()) && flags.keyFile() == null;
        return new ServerConnection(
                parseUrl(profile.url()),
                named ? own.or(() -> givenKey) : givenKey.or(() -> own),
                "profile " + profile.name());
    }

    private static Optional<String> key(Shell shell, Flags flags) {
        if (flags.keyFile() != null) return Optional.of(SecretFiles.read("--key-file", flags.keyFile()));
        return shell.variable("CARILLON_KEY")
                .or(() -> shell.variable("CARILLON_KEY_FILE").map(file -> SecretFiles.read("CARILLON_KEY_FILE", file)));
    }

    /** Parses the address of a server. */
    public static URI parseUrl(String text) {
        try {
            URI url = URI.create(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
            boolean http = "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
            if (http && url.getHost() != null && url.getUserInfo() == null && url.getQuery() == null) return url;
        } catch (IllegalArgumentException odd) {
            throw new UsageException(invalidUrl(text), odd);
        }
        throw new UsageException(invalidUrl(text));
    }

    private static String invalidUrl(String text) {
        return "'%s' is not the address of a server. Write http://host:8080 or https://host.".formatted(text);
    }

    @Override
    public String toString() {
        return url + " (" + source + ")";
    }
}
