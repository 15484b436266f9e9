package io.carillon.it.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
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

/** Creation and removal of partitions while other sessions read, write, die in the middle and do the same. */
class PartitionRemovalTest extends StoreContract {
    private static final Duration TWO_WEEKS = Duration.ofDays(14);
    private static final LocalDate TODAY = LocalDate.ofInstant(StoreFixture.NOON, ZoneOffset.UTC);
    private static final LocalDate OLD = TODAY.minusDays(20);

    /** The comment on partitions that retention has detached; stored, so every version must use the same text. */
    private static final String DETACHED_MARK = "carillon: detached by retention, to be dropped";

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @BeforeEach
    void dropAll() {
        FIXTURE.query("""
                        SELECT relname FROM pg_class WHERE relnamespace = 'carillon'::regnamespace AND relkind = 'r'
                          AND relname ~ '_[0-9]{8}$'
                        """).texts().forEach(table -> FIXTURE.database().execute("DROP TABLE carillon." + table));
    }

    private static List<String> partitions() {
        return FIXTURE.query("""
                SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                  JOIN pg_class p ON p.oid = i.inhparent
                 WHERE p.relname IN ('run_history', 'attempt', 'ledger_gap', 'workflow_step_history')
                   AND c.relkind = 'r' AND NOT i.inhdetachpending ORDER BY 1
                """).texts();
    }

    private static String name(String table, LocalDate day) {
        return table + "_" + day.format(DateTimeFormatter.BASIC_ISO_DATE);
    }

    private void createOldPartitions() {
        fixture().clock().stopAt(StoreFixture.NOON.minus(Duration.ofDays(20)));
        storage().maintenance().ensurePartitions(0);
        fixture().clock().stopAt(StoreFixture.NOON);
        storage().maintenance().ensurePartitions(1);
    }

    @Test
    void eight_concurrent_creators_of_the_same_days_create_each_once() {
        List<Integer> created = Concurrently.run(
                8,
                thread -> (thread % 2 == 0 ? storage() : fixture().secondStorage())
                        .maintenance()
                        .ensurePartitions(2));

        // Six tables, each with today and the next two days, and yesterday.
        assertThat(created.stream().mapToInt(Integer::intValue).sum()).isEqualTo(24);
        assertThat(partitions()).as("of runs, attempts, gaps and steps").hasSize(16);
    }

    @Test
    void concurrent_endings_that_lack_the_same_partition_all_succeed() {
        List<RunId> ids = enqueue(RunSpec.mail(), 64);
        UUID node = node();
        var attempts = claim(node, 64);

        Concurrently.run(
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
        createOldPartitions();

        assertThat(storage().maintenance().dropHistory(TWO_WEEKS)).isEqualTo(8);

        assertThat(partitions()).hasSize(12).doesNotContain(name("run_history", OLD));
        assertThat(tableExists(name("run_history", OLD))).isFalse();
    }

    private static boolean tableExists(String name) {
        return FIXTURE.query("SELECT to_regclass('carillon." + name + "') IS NOT NULL")
                .text()
                .equals("t");
    }

    @Test
    void concurrent_removals_remove_everything_without_failure() {
        createOldPartitions();

        List<Integer> removed =
                Concurrently.run(4, thread -> storage().maintenance().dropHistory(TWO_WEEKS));
        storage().maintenance().dropHistory(TWO_WEEKS);

        assertThat(removed.stream().mapToInt(Integer::intValue).sum()).isLessThanOrEqualTo(8);
        assertThat(partitions()).hasSize(12);
        assertThat(tableExists(name("attempt", OLD))).isFalse();
    }

    @Test
    void an_interrupted_detachment_is_finished() throws SQLException {
        createOldPartitions();
        String partition = name("run_history", OLD);
        try (Connection reader = fixture().open();
                Connection detaching = fixture().open()) {
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

        assertThat(storage().maintenance().dropHistory(TWO_WEEKS)).isEqualTo(8);

        assertThat(tableExists(partition)).isFalse();
    }

    private static void read(Connection connection, String table) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT count(*) FROM " + table).close();
        }
    }

    @Test
    void a_partition_detached_by_a_node_that_died_before_dropping_it_is_dropped() {
        createOldPartitions();
        String partition = name("run_history", OLD);
        FIXTURE.database().execute("COMMENT ON TABLE carillon.%s IS '%s'".formatted(partition, DETACHED_MARK));
        FIXTURE.database().execute("ALTER TABLE carillon.run_history DETACH PARTITION carillon." + partition);

        assertThat(storage().maintenance().dropHistory(TWO_WEEKS)).isEqualTo(8);

        assertThat(tableExists(partition)).isFalse();
    }

    @Test
    void a_partition_that_an_operator_detached_is_kept() {
        createOldPartitions();
        String partition = name("run_history", OLD);
        FIXTURE.database().execute("ALTER TABLE carillon.run_history DETACH PARTITION carillon." + partition);

        assertThat(storage().maintenance().dropHistory(TWO_WEEKS)).isEqualTo(7);

        assertThat(tableExists(partition)).isTrue();
    }

    @Test
    void a_day_whose_detached_partition_still_exists_can_be_written_again() {
        createOldPartitions();
        String partition = name("run_history", OLD);
        FIXTURE.database().execute("COMMENT ON TABLE carillon.%s IS '%s'".formatted(partition, DETACHED_MARK));
        FIXTURE.database().execute("ALTER TABLE carillon.run_history DETACH PARTITION carillon." + partition);
        RunId id = enqueue(RunSpec.mail());
        FIXTURE.database().execute("UPDATE carillon.run SET day = '%s'".formatted(OLD));
        UUID node = node();

        apply(node, claimOne(node), complete());

        assertThat(get(id).state()).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void a_run_cancelled_long_before_it_is_due_creates_no_partition_for_its_due_day() {
        storage().maintenance().ensurePartitions(1);
        RunId id = enqueue(RunSpec.mail().after(Duration.ofDays(3_650)));

        storage().runAdmin().cancel(PROJECT, id, "enough");

        assertThat(partitions()).hasSize(12);
        assertThat(FIXTURE.query("SELECT day FROM carillon.run_history").text()).isEqualTo(TODAY.toString());
    }
}
