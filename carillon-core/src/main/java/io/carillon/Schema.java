package io.carillon;

import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.internal.postgres.vitals.ServerVitalsReader;
import io.carillon.internal.store.DatabaseVitals;
import java.time.Instant;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The Carillon tables of one database: their version and their migration. Connects only in methods that
 * need the database.
 */
public final class Schema {
    /**
     * The database server.
     *
     * @param connections the number of connections in use
     * @param jitAboveCost the estimated cost above which PostgreSQL compiles statements; null if it never does
     * @param missingTimeouts driver settings that a node needs to leave a server that does not answer, and that the
     *     URL of the data source lacks or sets to 0; settings that the pool adds to the URL do not count
     */
    public record Server(
            Instant now,
            int connections,
            int maxConnections,
            @Nullable Double jitAboveCost,
            List<String> missingTimeouts) {
        /**
         * The lowest recommended {@code jit_above_cost}, which is PostgreSQL's default. Frequent statements of Carillon
         * have less than half of this estimated cost.
         */
        public static final double MIN_JIT_ABOVE_COST = DatabaseVitals.JIT_SAFE_COST;

        public Server {
            missingTimeouts = List.copyOf(missingTimeouts);
        }

        /**
         * Returns whether PostgreSQL may compile frequent statements of Carillon. The compilation takes longer than
         * their execution.
         */
        public boolean mayCompileStatements() {
            return DatabaseVitals.mayCompileStatements(jitAboveCost);
        }
    }

    private final DataSource dataSource;
    private final Migrator migrator;

    Schema(DataSource dataSource) {
        this.dataSource = dataSource;
        this.migrator = new Migrator(dataSource);
    }

    /** Returns the number of the newest applied migration; 0 if the tables do not exist. */
    public int appliedVersion() {
        return migrator.appliedNumber();
    }

    /** Returns the number of the migration that this version of Carillon needs. Does not connect. */
    public int requiredVersion() {
        return migrator.newestNumber();
    }

    /** Applies the missing migrations. Several processes may call this at the same time. */
    public void migrate() {
        migrator.run(SchemaMode.AUTO);
    }

    /**
     * Checks the schema without changing it.
     *
     * @throws io.carillon.CarillonException if the schema is too old, too new or altered; the message names the
     *     action to take
     */
    public void validate() {
        migrator.run(SchemaMode.VALIDATE);
    }

    /** Returns the clock and the connections of the database server. The tables must exist. */
    public Server server() {
        return toServer(ServerVitalsReader.read(dataSource));
    }

    private static Server toServer(DatabaseVitals.Server server) {
        return new Server(
                server.now(),
                server.connections(),
                server.maxConnections(),
                server.jitAboveCost(),
                server.missingTimeouts());
    }

    /**
     * Returns the SQL of the migrations from this number on, for psql or another tool; 1 returns all. Does not connect.
     */
    public String sql(int from) {
        return migrator.print(from);
    }
}
