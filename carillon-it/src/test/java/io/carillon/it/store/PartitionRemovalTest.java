package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Partitions come and go while others read, write, die half-way and do the same. */
class PartitionRemovalTest extends StoreContract {
    private static final Duration TWO_WEEKS = Duration.ofDays(14);
    private static final LocalDate TODAY = LocalDate.ofInstant(StoreBench.NOON, ZoneOffset.UTC);
    private static final LocalDate OLD = TODAY.minusDays(20);

    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @BeforeEach
    void dropAll() {
        BENCH.rows().texts("""
                        SELECT relname FROM pg_class WHERE relnamespace = 'carillon'::regnamespace AND relkind = 'r' AND relname ~ '_[0-9]{8}$'
                        """).forEach(partition -> BENCH.database().execute("DROP TABLE carillon." + partition));
    }

    private static List<String> partitions() {
        return BENCH.rows().texts("""
                SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
                 WHERE p.relname IN ('run_history', 'attempt', 'ledger_gap') AND c.relkind = 'r' AND NOT i.inhdetachpending ORDER BY 1
                """);
    }

    private static String name(String table, LocalDate day) {
        return table + "_" + day.format(DateTimeFormatter.BASIC_ISO_DATE);
    }

    private void makeOld() {
        bench().clock().at(StoreBench.NOON.minus(Duration.ofDays(20)));
        storage().housekeeping().keepPartitions(0);
        bench().clock().at(StoreBench.NOON);
        storage().housekeeping().keepPartitions(1);
    }

    @Test
    void eight_who_create_the_same_days_create_each_once() {
        List<Integer> created = Together.run(
                8,
                thread -> (thread % 2 == 0 ? storage() : bench().another())
                        .housekeeping()
                        .keepPartitions(2));

        assertThat(created.stream().mapToInt(Integer::intValue).sum()).isEqualTo(12);
        assertThat(partitions()).hasSize(12);
    }

    @Test
    void many_endings_that_miss_the_same_partition_all_get_through() {
        List<RunId> ids = enqueue(Order.mail(), 64);
        UUID node = node();
        var attempts = claim(node, 64);

        Together.run(
                8,
                thread -> storage()
                        .runs()
                        .apply(
                                node,
                                attempts.subList(thread * 8, thread * 8 + 8).stream()
                                        .map(attempt -> ended(attempt, complete()))
                                        .toList()));

        assertThat(ids).allSatisfy(id -> assertThat(get(id).state()).isEqualTo(RunState.SUCCEEDED));
    }

    @Test
    void old_partitions_are_detached_and_dropped() {
        makeOld();

        assertThat(storage().housekeeping().dropHistory(TWO_WEEKS)).isEqualTo(6);

        assertThat(partitions()).hasSize(9).doesNotContain(name("run_history", OLD));
        assertThat(tableExists(name("run_history", OLD))).isFalse();
    }

    private static boolean tableExists(String name) {
        return BENCH.rows()
                .text("SELECT to_regclass('carillon." + name + "') IS NOT NULL")
                .equals("t");
    }

    @Test
    void many_who_remove_at_the_same_time_remove_everything_and_fail_nowhere() {
        makeOld();

        List<Integer> removed =
                Together.run(4, thread -> storage().housekeeping().dropHistory(TWO_WEEKS));
        storage().housekeeping().dropHistory(TWO_WEEKS);

        assertThat(removed.stream().mapToInt(Integer::intValue).sum()).isLessThanOrEqualTo(6);
        assertThat(partitions()).hasSize(9);
        assertThat(tableExists(name("attempt", OLD))).isFalse();
    }

    @Test
    void a_detachment_that_was_interrupted_is_finished() throws SQLException {
        makeOld();
        String partition = name("run_history", OLD);
        try (Connection reader = bench().open();
                Connection detaching = bench().open()) {
            reader.setAutoCommit(false);
            read(reader, "carillon." + partition);
            try (Statement statement = detaching.createStatement()) {
                statement.execute("SET statement_timeout = '300ms'");
                assertThatThrownBy(() -> statement.execute("ALTER TABLE carillon.run_history DETACH PARTITION carillon."
                                + partition + " CONCURRENTLY"))
                        .hasMessageContaining("statement timeout");
                statement.execute("RESET statement_timeout");
            }
            reader.rollback();
            reader.setAutoCommit(true);
        }
        assertThat(partitions()).doesNotContain(partition);
        assertThat(tableExists(partition)).isTrue();

        assertThat(storage().housekeeping().dropHistory(TWO_WEEKS)).isEqualTo(6);

        assertThat(tableExists(partition)).isFalse();
    }

    private static void read(Connection connection, String table) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT count(*) FROM " + table).close();
        }
    }

    @Test
    void a_partition_detached_by_a_node_that_died_before_dropping_it_is_dropped() {
        makeOld();
        String partition = name("run_history", OLD);
        BENCH.database().execute("COMMENT ON TABLE carillon.%s IS 'its days are over'".formatted(partition));
        BENCH.database().execute("ALTER TABLE carillon.run_history DETACH PARTITION carillon." + partition);

        assertThat(storage().housekeeping().dropHistory(TWO_WEEKS)).isEqualTo(6);

        assertThat(tableExists(partition)).isFalse();
    }

    @Test
    void a_partition_that_somebody_detached_to_keep_it_is_kept() {
        makeOld();
        String partition = name("run_history", OLD);
        BENCH.database().execute("ALTER TABLE carillon.run_history DETACH PARTITION carillon." + partition);

        assertThat(storage().housekeeping().dropHistory(TWO_WEEKS)).isEqualTo(5);

        assertThat(tableExists(partition)).isTrue();
    }

    @Test
    void a_day_whose_leftover_was_not_dropped_yet_can_be_written_again() {
        makeOld();
        String partition = name("run_history", OLD);
        BENCH.database().execute("COMMENT ON TABLE carillon.%s IS 'its days are over'".formatted(partition));
        BENCH.database().execute("ALTER TABLE carillon.run_history DETACH PARTITION carillon." + partition);
        RunId id = enqueue(Order.mail());
        BENCH.database().execute("UPDATE carillon.run SET day = '%s'".formatted(OLD));
        UUID node = node();

        apply(node, claimOne(node), complete());

        assertThat(get(id).state()).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void a_run_cancelled_long_before_it_is_due_makes_no_partition_of_that_day() {
        storage().housekeeping().keepPartitions(1);
        RunId id = enqueue(Order.mail().after(Duration.ofDays(3_650)));

        storage().runDesk().cancel(PROJECT, id, "enough");

        assertThat(partitions()).hasSize(9);
        assertThat(BENCH.rows().text("SELECT day FROM carillon.run_history")).isEqualTo(TODAY.toString());
    }
}
