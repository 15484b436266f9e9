package io.carillon.testkit.internal.server;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Executes the statements of the test kit without a time limit: creating a database may take long. */
public record Sql(DataSource dataSource) {
    /** Executes a script without parameters in one transaction. */
    public void run(String script) {
        call(session -> {
            session.execute(script);
            return script;
        });
    }

    /** Executes work on a connection of its own. */
    public <T> T call(Database.SessionWork<T> work) {
        try (Connection connection = dataSource.getConnection()) {
            return work.run(new Session(connection, 0));
        } catch (SQLException failure) {
            throw new StorageException(failure);
        }
    }
}
