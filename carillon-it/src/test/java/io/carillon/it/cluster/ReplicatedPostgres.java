package io.carillon.it.cluster;

import io.carillon.embedded.EmbeddedPostgres;
import io.carillon.testkit.QueryResult;
import io.carillon.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A primary and its synchronous standby, which starts from a copy of the data directory. The primary can be frozen and
 * the standby promoted.
 */
final class ReplicatedPostgres implements AutoCloseable {
    private final Path directory;
    final EmbeddedPostgres primary;
    final EmbeddedPostgres standby;

    ReplicatedPostgres() throws IOException {
        directory = Files.createTempDirectory("carillon-replicated");
        Path first = directory.resolve("primary");
        Path second = directory.resolve("standby");
        EmbeddedPostgres.in(first).start().close();
        for (String suffix : List.of("", ".password"))
            copy(directory.resolve("primary" + suffix), directory.resolve("standby" + suffix));
        Files.createFile(second.resolve("standby.signal"));
        primary = EmbeddedPostgres.in(first)
                .setting("fsync", "off")
                .setting("synchronous_standby_names", "standby")
                .start();
        standby = EmbeddedPostgres.in(second)
                .setting("fsync", "off")
                .setting(
                        "primary_conninfo",
                        "host=127.0.0.1 port=%d user=%s password=%s application_name=standby"
                                .formatted(primary.port(), primary.user(), primary.password()))
                .start();
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path one : all.toList())
                Files.copy(one, to.resolve(from.relativize(one).toString()), StandardCopyOption.COPY_ATTRIBUTES);
        }
    }

    /** Returns a URL with both hosts, the primary first, with user and password and without a timeout. */
    String url() {
        return "jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/carillon?targetServerType=primary&user=%s&password=%s"
                .formatted(primary.port(), standby.port(), primary.user(), primary.password());
    }

    /** Stops all processes of the primary (SIGSTOP): connections stay open, and the kernel still accepts new ones. */
    void freezePrimary() throws Exception {
        // The postmaster first, so that no new process starts while they are listed.
        signal(List.of("" + primary.pid()));
        signal(ProcessHandle.of(primary.pid())
                .orElseThrow()
                .descendants()
                .map(one -> "" + one.pid())
                .toList());
    }

    private static void signal(List<String> processes) throws Exception {
        List<String> command = new ArrayList<>(List.of("kill", "-STOP"));
        command.addAll(processes);
        int exit = new ProcessBuilder(command).inheritIO().start().waitFor();
        if (exit != 0) throw new IllegalStateException("kill ended with " + exit);
    }

    /** Promotes the standby and returns when it accepts writes. */
    void promote() {
        query(standby, "SELECT pg_promote()");
    }

    /** Executes a query on this server, with a new connection. */
    static QueryResult query(EmbeddedPostgres postgres, String sql) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(postgres.jdbcUrl());
        source.setUser(postgres.user());
        source.setPassword(postgres.password());
        return TestDatabase.query(source, sql);
    }

    @Override
    public void close() throws IOException {
        // A frozen server does not react to a normal stop.
        for (EmbeddedPostgres one : List.of(primary, standby)) {
            one.kill();
            one.close();
        }
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path one : all.sorted(java.util.Comparator.reverseOrder()).toList()) Files.delete(one);
        }
    }
}
