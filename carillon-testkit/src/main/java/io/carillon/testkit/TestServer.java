package io.carillon.testkit;

import io.carillon.embedded.EmbeddedPostgres;
import io.carillon.postgres.migration.Migrator;
import io.carillon.value.CarillonException;
import io.carillon.value.SchemaMode;
import io.carillon.value.Uuid7;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** The one PostgreSQL server of this JVM, and the databases made on it. What was made is dropped at the latest when the JVM ends. */
final class TestServer {
    static final String URL_VARIABLE = "CARILLON_TEST_DATABASE_URL";

    /** Stands in the comment of each database the kit made; a dump restored elsewhere does not carry it. */
    static final String MARK = "made by the Carillon test kit";

    private static final String MAINTENANCE = "postgres";
    private static final String TERMINATE = """
            SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname = ?
            """;

    private final ServerAddress address;
    private final String prefix = "carillon_test_" + Uuid7.next().toString().substring(24) + "_";
    private final AtomicInteger made = new AtomicInteger();
    private final Set<String> databases = ConcurrentHashMap.newKeySet();
    private @Nullable String template;

    private TestServer(ServerAddress address) {
        this.address = address;
    }

    /** The server; the first caller starts it. */
    static TestServer get() {
        return Holder.SERVER;
    }

    ServerAddress address() {
        return address;
    }

    /** A new database with Carillon's tables. */
    String createMigrated() {
        return create(template());
    }

    /** A new database with nothing in it. */
    String createEmpty() {
        return create("template0");
    }

    void drop(String database) {
        maintenance().run("DROP DATABASE IF EXISTS " + database + " WITH (FORCE)");
        databases.remove(database);
    }

    /** Ends every session in the database and waits until they are gone; returns how many there were. */
    int terminateSessions(String database) {
        return maintenance().one(TERMINATE, row -> row.getInt(1), database);
    }

    private synchronized String template() {
        if (template == null) {
            String name = createEmpty();
            new Migrator(address.pointed(new PGSimpleDataSource(), name)).run(SchemaMode.AUTO);
            template = name;
        }
        return template;
    }

    // No STRATEGY clause: since PostgreSQL 15 the default copies a small template without a checkpoint, before that
    // there is no choice.
    private String create(String source) {
        String name = prefix + made.incrementAndGet();
        databases.add(name);
        maintenance().run("CREATE DATABASE " + name + " TEMPLATE " + source);
        maintenance().run("COMMENT ON DATABASE " + name + " IS '" + MARK + "'");
        return name;
    }

    private Sql maintenance() {
        return new Sql(address.pointed(new PGSimpleDataSource(), MAINTENANCE));
    }

    private void dropAll() {
        for (String database : databases) {
            try {
                drop(database);
            } catch (CarillonException e) {
                // The JVM ends; a server that is gone already has nothing left to drop.
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

    /** The embedded server ends with this JVM, and its databases with it. */
    private static TestServer embedded() {
        EmbeddedPostgres postgres = EmbeddedPostgres.temporary().start();
        return new TestServer(new ServerAddress(postgres.jdbcUrl(MAINTENANCE), postgres.user(), postgres.password()));
    }

    /** Started on first use, by whichever thread comes first. */
    private static final class Holder {
        private static final TestServer SERVER = start();
    }
}
