package io.carillon.cli.config;

import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** The libpq environment variables that name a database. */
final class PgVariables {
    private PgVariables() {}

    /** Returns the database that the variables name; empty if neither PGHOST nor PGDATABASE is set. */
    static Optional<DatabaseUrl> read(Shell shell) {
        Optional<String> host = shell.variable("PGHOST");
        Optional<String> name = shell.variable("PGDATABASE");
        if (host.isEmpty() && name.isEmpty()) return Optional.empty();
        Optional<String> user = shell.variable("PGUSER");
        String database = name.or(() -> user)
                .orElseThrow(() -> new UsageException("PGHOST is set, but PGDATABASE is not. Set PGDATABASE as well."));
        StringBuilder url = new StringBuilder("postgres://");
        user.ifPresent(text -> url.append(encoded(text)));
        password(shell).ifPresent(text -> url.append(':').append(encoded(text)));
        if (user.isPresent()) url.append('@');
        url.append(host.orElse("localhost"));
        shell.variable("PGPORT").ifPresent(port -> url.append(':').append(port));
        url.append('/').append(encoded(database));
        shell.variable("PGSSLMODE").ifPresent(mode -> url.append("?sslmode=").append(encoded(mode)));
        return Optional.of(DatabaseUrl.parse(url.toString()));
    }

    private static Optional<String> password(Shell shell) {
        Optional<String> password = shell.variable("PGPASSWORD")
                .or(() -> shell.variable("PGPASSWORD_FILE").map(file -> SecretFiles.read("PGPASSWORD_FILE", file)));
        if (password.isPresent() && shell.variable("PGUSER").isEmpty())
            throw new UsageException("PGPASSWORD is set, but PGUSER is not. Set PGUSER as well.");
        return password;
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
