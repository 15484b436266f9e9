package io.carillon.bench.server;

import io.carillon.Carillon;
import io.carillon.bench.measure.Waiting;
import io.carillon.embedded.EmbeddedPostgres;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An embedded PostgreSQL with full durability, or a running PostgreSQL, with a template database that contains the
 * schema of Carillon. New databases are copies of the template.
 */
public final class BenchServer implements AutoCloseable {
    /** The settings that are set explicitly; {@code fsync} and {@code synchronous_commit} stay on. */
    public static final Map<String, String> SETTINGS = settings();

    private static final String TEMPLATE = "bench_template";
    private static final String PREFIX = "bench_";
    private static final HandlerType<String> TEMPLATE_HANDLER = HandlerType.of("first", String.class);

    /**
     * The location of the server.
     *
     * @param embedded null if the server was already running and keeps running
     */
    private record ServerLocation(
            UnaryOperator<String> jdbcUrl,
            String user,
            String password,
            long pid,
            @Nullable EmbeddedPostgres embedded) {}

    private final ServerLocation location;
    private final AtomicInteger databases = new AtomicInteger();

    private BenchServer(ServerLocation serverLocation) {
        this.location = serverLocation;
    }

    private static Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("fsync", "on");
        settings.put("synchronous_commit", "on");
        settings.put("full_page_writes", "on");
        settings.put("shared_buffers", "1GB");
        settings.put("max_wal_size", "8GB");
        settings.put("max_connections", "300");
        settings.put("shared_preload_libraries", "pg_stat_statements");
        return settings;
    }

    /** Starts an embedded server on this data directory. Drops databases that an interrupted benchmark left there. */
    public static BenchServer start(Path data, Map<String, String> settings, Consumer<String> progress)
            throws SQLException {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.in(data).progress(progress);
        settings.forEach(builder::setting);
        EmbeddedPostgres postgres = builder.start();
        return ready(new BenchServer(
                new ServerLocation(postgres::jdbcUrl, postgres.user(), postgres.password(), postgres.pid(), postgres)));
    }

    /**
     * Uses a server that already runs on this machine, with its settings: {@code postgres://user:password@host:port/}.
     * The user must be a superuser, and pg_stat_statements must be loaded. Databases named {@code bench_…} are dropped.
     */
    public static BenchServer at(String url) throws SQLException {
        URI address = URI.create(url);
        String[] login = String.valueOf(address.getUserInfo()).split(":", 2);
        if (address.getHost() == null || address.getUserInfo() == null || login.length != 2)
            throw new IllegalArgumentException(
                    "The database URL is invalid. Write postgres://user:password@host:5432/");
        UnaryOperator<String> jdbcUrl = database -> "jdbc:postgresql://%s:%d/%s"
                .formatted(address.getHost(), address.getPort() < 0 ? 5432 : address.getPort(), database);
        try (Connection connection = DriverManager.getConnection(jdbcUrl.apply("postgres"), login[0], login[1]);
                var row = connection
                        .createStatement()
                        .executeQuery("SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)::bigint")) {
            row.next();
            return ready(new BenchServer(new ServerLocation(jdbcUrl, login[0], login[1], row.getLong(1), null)));
        }
    }

    private static BenchServer ready(BenchServer server) throws SQLException {
        boolean ready = false;
        try {
            server.dropLeftovers();
            server.makeTemplate();
            ready = true;
            return server;
        } finally {
            if (!ready) server.close();
        }
    }

    private void dropLeftovers() throws SQLException {
        List<String> left = new ArrayList<>();
        try (Connection connection = connect("postgres");
                var names = connection
                        .createStatement()
                        .executeQuery("SELECT datname FROM pg_database WHERE datname LIKE 'bench\\_%'")) {
            while (names.next()) left.add(names.getString(1));
        }
        for (String name : left) drop(name);
    }

    /** Creates the template. One run is executed in it, so that the partitions of today exist. */
    private void makeTemplate() throws SQLException {
        execute("postgres", "CREATE DATABASE " + TEMPLATE);
        BenchDatabase template = new BenchDatabase(this, TEMPLATE);
        try (var pool = template.pool(6);
                Carillon carillon = Carillon.on(pool)
                        .handle(TEMPLATE_HANDLER, (payload, run) -> {})
                        .start()) {
            carillon.enqueue(TEMPLATE_HANDLER, "first", Enqueue.now().queue("template"));
            Sql sql = new Sql(pool);
            Waiting.require(
                    "The first run",
                    () -> sql.number("SELECT count(*) FROM carillon.run_history") == 1,
                    Duration.ofSeconds(30));
        }
        execute(TEMPLATE, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
        execute(TEMPLATE, "TRUNCATE carillon.run_history");
        execute(TEMPLATE, "DELETE FROM carillon.node");
        execute(TEMPLATE, "VACUUM ANALYZE");
    }

    /** Creates a database with the schema of Carillon. */
    public BenchDatabase migrated() throws SQLException {
        return create(" TEMPLATE " + TEMPLATE);
    }

    /** Creates a database without tables. */
    public BenchDatabase empty() throws SQLException {
        return create("");
    }

    private BenchDatabase create(String options) throws SQLException {
        String name = PREFIX + databases.incrementAndGet();
        execute("postgres", "CREATE DATABASE " + name + options);
        return new BenchDatabase(this, name);
    }

    void drop(String name) throws SQLException {
        execute("postgres", "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
    }

    Connection connect(String database) throws SQLException {
        return DriverManager.getConnection(location.jdbcUrl.apply(database), location.user, location.password);
    }

    String jdbcUrl(String database) {
        return location.jdbcUrl.apply(database);
    }

    String user() {
        return location.user;
    }

    String password() {
        return location.password;
    }

    /** Returns the process id of the postmaster. */
    public long pid() {
        return location.pid;
    }

    /** Returns the relevant settings, as the server reports them. */
    public Map<String, String> effectiveSettings() throws SQLException {
        if (location.embedded != null) return SETTINGS;
        Map<String, String> settings = new LinkedHashMap<>();
        try (Connection connection = connect("postgres");
                var read = connection.prepareStatement("SELECT current_setting(?)")) {
            for (String name : Stream.concat(SETTINGS.keySet().stream(), Stream.of("jit", "jit_above_cost"))
                    .toList()) {
                read.setString(1, name);
                try (var row = read.executeQuery()) {
                    row.next();
                    settings.put(name, row.getString(1));
                }
            }
        }
        return settings;
    }

    /** Returns the version that the server reports. */
    public String version() throws SQLException {
        try (Connection connection = connect("postgres")) {
            return connection.getMetaData().getDatabaseProductVersion();
        }
    }

    void execute(String database, String sql) throws SQLException {
        try (Connection connection = connect(database);
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() {
        EmbeddedPostgres embedded = location.embedded;
        if (embedded != null) embedded.close();
    }
}
