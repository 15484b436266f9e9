package io.carillon.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;

/** A program that owns a server, for tests and for trials by hand: says its steps and the server's address, and closes when its input ends. */
final class Owner {
    private Owner() {}

    /** Takes the data directory, or nothing for a temporary server. */
    public static void main(String[] arguments) throws IOException {
        long begin = System.nanoTime();
        EmbeddedPostgres.Builder builder =
                arguments.length == 0 ? EmbeddedPostgres.temporary() : EmbeddedPostgres.in(Path.of(arguments[0]));
        try (EmbeddedPostgres postgres = builder.progress(System.out::println).start()) {
            System.out.println("pid=" + postgres.pid());
            System.out.println("url=" + postgres.jdbcUrl());
            System.out.println("data=" + postgres.dataDirectory());
            System.out.println("seconds=" + String.format(Locale.ROOT, "%.2f", (System.nanoTime() - begin) / 1e9));
            System.out.println("ready");
            while (System.in.read() >= 0) {}
        }
    }
}
