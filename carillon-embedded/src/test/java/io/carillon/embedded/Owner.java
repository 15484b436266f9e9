package io.carillon.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

/**
 * A program that owns a server, for tests and manual trials. Prints its steps and the address of the server, and closes
 * the server when standard input ends.
 */
final class Owner {
    private Owner() {}

    /**
     * Takes the data directory, or no argument for a temporary server; then optionally "lets-go-slowly" for an
     * application that still uses the database while it exits.
     */
    public static void main(String[] arguments) throws IOException {
        long begin = System.nanoTime();
        boolean slowly = List.of(arguments).contains("lets-go-slowly");
        EmbeddedPostgres.Builder builder =
                arguments.length == 0 ? EmbeddedPostgres.temporary() : EmbeddedPostgres.in(Path.of(arguments[0]));
        try (EmbeddedPostgres postgres =
                builder.stopAtExit(!slowly).progress(System.out::println).start()) {
            if (slowly) Runtime.getRuntime().addShutdownHook(new Thread(() -> queryAtExit(postgres)));
            System.out.println("pid=" + postgres.pid());
            System.out.println("url=" + postgres.jdbcUrl());
            System.out.println("data=" + postgres.dataDirectory());
            System.out.println("seconds=" + String.format(Locale.ROOT, "%.2f", (System.nanoTime() - begin) / 1e9));
            System.out.println("ready");
            while (System.in.read() >= 0) {}
        }
    }

    private static void queryAtExit(EmbeddedPostgres postgres) {
        try {
            System.out.println("last words=" + Sql.query(postgres, "SELECT 'heard' FROM pg_sleep(1)"));
        } catch (SQLException e) {
            System.out.println("last words=" + e.getMessage());
        }
        System.out.println("ready");
    }
}
