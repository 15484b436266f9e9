package io.carillon;

import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.internal.postgres.vitals.ServerVitalsReader;
import javax.sql.DataSource;

/**
 * The Carillon tables of one database: their version and their migration. Connects only in methods that need the
 * database.
 */
public final class Schema {
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
    public DatabaseVitals.Server server() {
        return ServerVitalsReader.read(dataSource);
    }

    /**
     * Returns the SQL of the migrations from this number on, for psql or another tool; 1 returns all. Does not connect.
     */
    public String sql(int from) {
        return migrator.print(from);
    }
}
