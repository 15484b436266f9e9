package io.carillon;

import io.carillon.postgres.migration.Migrator;
import io.carillon.postgres.vitals.ServerLook;
import io.carillon.store.Vitals;
import io.carillon.value.SchemaMode;
import javax.sql.DataSource;

/** The tables of Carillon in one database: how far they are, and how they get on. Connects only when asked something that needs it. */
public final class Schema {
    private final DataSource dataSource;
    private final Migrator migrator;

    Schema(DataSource dataSource) {
        this.dataSource = dataSource;
        this.migrator = new Migrator(dataSource);
    }

    /** The number of the newest migration that was applied; 0: there are no tables yet. */
    public int number() {
        return migrator.number();
    }

    /** The number this version needs. Needs no database. */
    public int newest() {
        return migrator.code();
    }

    /** Applies what is missing; safe when many processes do it at once. */
    public void migrate() {
        migrator.run(SchemaMode.AUTO);
    }

    /** Changes nothing, and refuses a schema that is too old, too new or altered, saying what to do. */
    public void validate() {
        migrator.run(SchemaMode.VALIDATE);
    }

    /** The server beneath the tables, which must be there: its clock and its connections. */
    public Vitals.Server server() {
        return ServerLook.read(dataSource);
    }

    /** The SQL of the migrations from this number on (1: all), for psql or another tool. Needs no database. */
    public String sql(int from) {
        return migrator.print(from);
    }
}
