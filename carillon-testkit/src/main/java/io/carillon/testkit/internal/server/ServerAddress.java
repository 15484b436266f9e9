package io.carillon.testkit.internal.server;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.ds.common.BaseDataSource;

/** The address and the credentials of the test server. Configures data sources for its databases. */
public record ServerAddress(String jdbcUrl, String user, String password) {
    /** Parses {@code jdbc:postgresql://host:port/db?user=u&password=p} or {@code postgres://u:p@host:port/db}. */
    static ServerAddress parse(String url) {
        if (url.startsWith("jdbc:")) {
            PGSimpleDataSource parsed = new PGSimpleDataSource();
            parsed.setURL(url);
            return new ServerAddress(parsed.getURL(), text(parsed.getUser()), text(parsed.getPassword()));
        }
        URI uri = URI.create(url);
        String[] userInfo = text(uri.getRawUserInfo()).split(":", 2);
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        return new ServerAddress(
                "jdbc:postgresql://%s:%d%s%s"
                        .formatted(uri.getHost(), uri.getPort() < 0 ? 5432 : uri.getPort(), uri.getRawPath(), query),
                decoded(userInfo[0]),
                userInfo.length == 2 ? decoded(userInfo[1]) : "");
    }

    /** Configures a data source of the driver for one database of this server. */
    public <T extends BaseDataSource> T configure(T dataSource, String database) {
        dataSource.setUrl(jdbcUrl);
        dataSource.setDatabaseName(database);
        dataSource.setUser(user);
        dataSource.setPassword(password);
        return dataSource;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private static String text(@Nullable String text) {
        return text == null ? "" : text;
    }

    @Override
    public String toString() {
        return user + " at " + jdbcUrl;
    }
}
