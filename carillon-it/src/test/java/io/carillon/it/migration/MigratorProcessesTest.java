package io.carillon.it.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.SchemaMode;
import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.testkit.NodeProcess;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

@Tag("slow")
class MigratorProcessesTest {
    private static final int PROCESSES = 8;

    /** A process that migrates as soon as the test releases a lock in the database. */
    static final class MigratingProcess {
        public static void main(String[] arguments) throws Exception {
            PGSimpleDataSource dataSource = new PGSimpleDataSource();
            dataSource.setUrl(arguments[0]);
            dataSource.setUser(arguments[1]);
            dataSource.setPassword(arguments.length > 2 ? arguments[2] : "");
            try (var connection = dataSource.getConnection();
                    var statement = connection.createStatement()) {
                System.out.println("ready");
                statement.execute("SELECT pg_advisory_lock_shared(4711)");
            }
            new Migrator(dataSource).run(SchemaMode.AUTO);
            System.out.println("migrated");
        }
    }

    @Test
    void eight_processes_that_start_together_apply_each_file_once() throws Exception {
        List<NodeProcess> nodes = new ArrayList<>();
        try (TestDatabase database = TestDatabase.empty()) {
            try (var gate = database.dataSource().getConnection();
                    var statement = gate.createStatement()) {
                statement.execute("SELECT pg_advisory_lock(4711)");
                for (int i = 0; i < PROCESSES; i++) {
                    nodes.add(NodeProcess.start(
                            MigratingProcess.class, database.jdbcUrl(), database.user(), database.password()));
                }
                for (NodeProcess node : nodes) node.awaitLine("ready", Duration.ofSeconds(60));
                statement.execute("SELECT pg_advisory_unlock(4711)");
            }

            for (NodeProcess node : nodes) node.awaitLine("migrated", Duration.ofSeconds(60));

            assertThat(Catalog.migrations(database)).hasSize(new Migrator(database.dataSource()).newestNumber());
        } finally {
            nodes.forEach(NodeProcess::close);
        }
    }
}
