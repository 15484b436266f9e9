package io.carillon.testkit.internal.server;

import io.carillon.CarillonException;
import io.carillon.SchemaMode;
import io.carillon.embedded.EmbeddedPostgres;
import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.internal.value.Uuid7;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The PostgreSQL server of this JVM and the databases created on it. All of them are dropped when the JVM ends
 * at the latest.
 */
public final class TestServer {
    static final String URL_VARIABLE = "CARILLON_TEST_DATABASE_URL";

    /** The comment of each database created by the test kit. A dump that is restored elsewhere does not contain it. */
    public static final String DATABASE_COMMENT = "made by the Carillon test kit";

    private static final String MAINTENANCE_DATABASE = "postgres";
    private static final String TERMINATE = """
            SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 5000)) AS ended FROM pg_stat_activity
              WHERE datname = :name
            """;

    private final ServerAddress address;
    private final String prefix = "carillon_test_" + Uuid7.next().toString().substring(24) + "_";
    private final AtomicInteger databaseCount = new AtomicInteger();
    private final Set<String> databases = ConcurrentHashMap.newKeySet();
    private @Nullable String template;

    private TestServer(ServerAddress address) {
        this.address = address;
    }

    /** Returns the server. The first call starts it. */
    public static TestServer get() {
        return Holder.SERVER;
    }

    public ServerAddress address() {
        return address;
    }

    /** Creates a database with the Carillon tables. */
    public String createMigrated() {
        return create(template());
    }

    /** Creates an empty database. */
    public String createEmpty() {
        return create("template0");
    }

    public void drop(String database) {
        maintenance().run("DROP DATABASE IF EXISTS " + database + " WITH (FORCE)");
        databases.remove(database);
    }

    /** Terminates all sessions of a database and waits until they have ended. Returns how many were terminated. */
    public int terminateSessions(String database) {
        return maintenance()
                .call(session -> session.query(TERMINATE).text("name", database).first(row -> row.integer("ended")))
                .orElseThrow();
    }

    private synchronized String template() {
        if (template == null) {
            String name = createEmpty();
            new Migrator(address.configure(new PGSimpleDataSource(), name)).run(SchemaMode.AUTO);
            template = name;
        }
        return template;
    }

    // No STRATEGY clause: since PostgreSQL 15 the default copies a small template without a checkpoint; before, the
    // clause does not exist.
    private String create(String source) {
        String name = prefix + databaseCount.incrementAndGet();
        databases.add(name);
        maintenance().run("CREATE DATABASE " + name + " TEMPLATE " + source);
        maintenance().run("COMMENT ON DATABASE " + name + " IS '" + DATABASE_COMMENT + "'");
        return name;
    }

    private Sql maintenance() {
        return new Sql(address.configure(new PGSimpleDataSource(), MAINTENANCE_DATABASE));
    }

    private void dropAll() {
        for (String database : databases) {
            try {
                drop(database);
            } catch (CarillonException e) {
                // The JVM ends. A server that has already stopped has nothing to drop.
            }
        }
    }

    private static TestServer start() {
        String url = System.getenv(URL_VARIABLE);
        if (url == null || url.isBlank()) return embedded();
        TestServer server = new TestServer(ServerAddress.parse(url));
        Runtime.getRuntime().addShutdownHook(new Thread(server::dropAll, "carillon-test-databases"));
        return server;
    }

    /** The embedded server and its databases end with this JVM. */
    private static TestServer embedded() {
        EmbeddedPostgres postgres = EmbeddedPostgres.temporary().start();
        return new TestServer(
                new ServerAddress(postgres.jdbcUrl(MAINTENANCE_DATABASE), postgres.user(), postgres.password()));
    }

    /** Starts the server on first use, on any thread. */
    private static final class Holder {
        private static final TestServer SERVER = start();
    }
}
