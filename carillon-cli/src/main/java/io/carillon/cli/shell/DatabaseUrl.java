package io.carillon.cli.shell;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address of a PostgreSQL database, parsed from {@code postgres://user:password@host:port/database?…} or {@code
 * jdbc:postgresql:…}. {@link #toString} and the messages of this class do not contain the password.
 *
 * @param user null if it is part of the JDBC URL or not given
 * @param password null if it is part of the JDBC URL or not given
 * @param displayText hosts and database, without user and password
 */
public record DatabaseUrl(
        String jdbcUrl, @Nullable String user, @Nullable String password, String displayText) {
    private static final String JDBC = "jdbc:postgresql:";
    private static final Pattern JDBC_ADDRESS = Pattern.compile("jdbc:postgresql:(?://)?([^?]*).*");
    private static final Pattern URI =
            Pattern.compile("postgres(?:ql)?://(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<hosts>[^/?]*)"
                    + "(?:/(?<database>[^?]*))?(?:\\?(?<options>.*))?");
    private static final Pattern HOSTS = Pattern.compile("(?:\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9._-]+)(?::\\d{1,5})?");
    /** The libpq options that have another name in the JDBC driver, with that name. */
    private static final Map<String, String> DRIVER_NAMES = Map.of(
            "application_name", "ApplicationName",
            "connect_timeout", "connectTimeout",
            "channel_binding", "channelBinding");

    private static final String FORMS = "Write postgres://user:password@host:5432/database or "
            + "jdbc:postgresql://host:5432/database?user=…&password=…. Write special characters in user and password "
            + "as % and two hexadecimal digits (@ is %40).";

    /** Parses either form. */
    public static DatabaseUrl parse(String text) {
        String url = text.strip();
        if (url.startsWith(JDBC)) return jdbc(url);
        Matcher parts = URI.matcher(url);
        if (!parts.matches()) throw new UsageException("The database URL is invalid. " + FORMS);
        String hosts = hosts(parts.group("hosts"));
        String database = decoded(parts.group("database"));
        String user = decoded(parts.group("user"));
        if (database == null || database.isEmpty()) database = user == null ? "" : user;
        if (database.isEmpty()) throw new UsageException("The database URL names no database. " + FORMS);
        return new DatabaseUrl(
                JDBC + "//" + hosts + "/" + encoded(database) + options(parts.group("options")),
                user,
                decoded(parts.group("password")),
                hosts + "/" + database);
    }

    /** Returns whether the URL contains a password. */
    public boolean hasPassword() {
        return password != null || jdbcUrl.contains("password=");
    }

    private static DatabaseUrl jdbc(String url) {
        Matcher address = JDBC_ADDRESS.matcher(url);
        String shown = address.matches() ? address.group(1) : "";
        if (shown.contains("@"))
            throw new UsageException("A jdbc: URL must have user and password as options, not before an @. " + FORMS);
        return new DatabaseUrl(url, null, null, shown);
    }

    private static String hosts(String hosts) {
        if (hosts.isEmpty()) return "localhost";
        for (String host : hosts.split(",", -1))
            if (!HOSTS.matcher(host).matches())
                throw new UsageException(
                        "The host in the database URL must be a name or an address with an optional port; "
                                + "Unix-domain sockets are not supported. "
                                + FORMS);
        return hosts;
    }

    private static String options(@Nullable String options) {
        if (options == null || options.isEmpty()) return "";
        List<String> driver = new ArrayList<>();
        for (String option : options.split("&", -1)) {
            int equals = option.indexOf('=');
            String name = equals < 0 ? option : option.substring(0, equals);
            if (name.isEmpty()) continue;
            String value = equals < 0 ? "" : option.substring(equals + 1);
            driver.add(DRIVER_NAMES.getOrDefault(name, name) + "=" + value);
        }
        return "?" + String.join("&", driver);
    }

    /** Decodes percent-encoded text. Unlike in HTML forms, a plus sign stays a plus sign. */
    private static @Nullable String decoded(@Nullable String text) {
        if (text == null) return null;
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new UsageException(
                    "The database URL contains a % without two hexadecimal digits after it. " + FORMS, e);
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    @Override
    public String toString() {
        return "DatabaseUrl[" + displayText + "]";
    }
}
