package io.carillon.it.wakeup;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.testkit.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.postgresql.ds.PGSimpleDataSource;

/** A real PgBouncer in transaction mode in front of a test database, where PgBouncer is installed. */
final class PgBouncer implements AutoCloseable {
    /** Eight server sessions for all clients. Startup parameters of the JDBC driver are ignored instead of rejected. */
    private static final String SETTINGS = """
            [databases]
            %s = host=%s port=%d user=%s%s
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = %d
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            default_pool_size = 8
            max_client_conn = 200
            ignore_startup_parameters = extra_float_digits
            server_round_robin = %d
            """;

    private final TestDatabase database;
    private final Process process;
    private final Path folder;
    private final int port;
    private final List<HikariDataSource> pools = new ArrayList<>();

    private PgBouncer(TestDatabase database, Process process, Path folder, int port) {
        this.database = database;
        this.process = process;
        this.folder = folder;
        this.port = port;
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    }

    /** Returns the binary: named by CARILLON_TEST_PGBOUNCER, on the PATH, or at the Debian location. */
    static Optional<Path> binary() {
        String named = System.getenv("CARILLON_TEST_PGBOUNCER");
        if (named != null) return Optional.of(Path.of(named));
        return Stream.concat(
                        Stream.of(System.getenv("PATH").split(":", -1)).map(folder -> Path.of(folder, "pgbouncer")),
                        Stream.of(Path.of("/usr/sbin/pgbouncer")))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * Starts PgBouncer. If {@code inTurn}, each transaction gets the session that was idle longest instead of the one
     * used last, so that a client never gets the same session twice in a row.
     */
    static PgBouncer start(TestDatabase database, boolean inTurn) {
        PGSimpleDataSource server = new PGSimpleDataSource();
        server.setURL(database.jdbcUrl());
        try {
            int port = freePort();
            Path folder = Files.createTempDirectory("pgbouncer");
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
            Path settings = folder.resolve("pgbouncer.ini");
            Files.writeString(
                    settings,
                    SETTINGS.formatted(
                            database.name(),
                            server.getServerNames()[0],
                            server.getPortNumbers()[0],
                            database.user(),
                            // An empty password would be a syntax error.
                            database.password().isEmpty() ? "" : " password=" + database.password(),
                            port,
                            inTurn ? 1 : 0));
            List<String> command =
                    new ArrayList<>(List.of(binary().orElseThrow().toString()));
            // PgBouncer refuses to run as root.
            if (System.getProperty("user.name").equals("root")) command.addAll(List.of("-u", "nobody"));
            command.add(settings.toString());
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("log").toFile())
                    .start();
            PgBouncer started = new PgBouncer(database, process, folder, port);
            Awaitility.await().atMost(Duration.ofSeconds(10)).until(started::answers);
            return started;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }

    private boolean answers() throws IOException {
        if (!process.isAlive()) throw new IllegalStateException(log());
        try (java.net.Socket socket = new java.net.Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException notYet) {
            return false;
        }
    }

    /** Returns a pool as an application has it, with the default settings of the driver. */
    HikariDataSource pool(int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://127.0.0.1:%d/%s".formatted(port, database.name()));
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        HikariDataSource pool = new HikariDataSource(config);
        pools.add(pool);
        return pool;
    }

    String log() throws IOException {
        return Files.readString(folder.resolve("log"));
    }

    @Override
    public void close() throws IOException {
        pools.forEach(HikariDataSource::close);
        process.destroy();
        process.onExit().join();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) Files.delete(file);
        }
        Files.delete(folder);
    }
}
