package io.carillon.it.lostanswer;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.it.statement.Statements;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A statement that writes history creates the partition it lacks, and the caller sees no failure. The test reads the
 * writing statements from the constants of the store's classes.
 */
class MissingPartitionTest extends PlanningContract {
    private static final Pattern HISTORY =
            Pattern.compile("INSERT INTO carillon\\.(run_history|attempt|ledger_gap)\\b");

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    static Stream<String> writers() {
        return LostAnswerTest.statements()
                .filter(name -> HISTORY.matcher(Statements.text(name)).find());
    }

    private static void dropAll() {
        FIXTURE.query("""
                        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                         WHERE c.relnamespace = 'carillon'::regnamespace AND c.relkind = 'r'
                        """).texts().forEach(table -> FIXTURE.database().execute("DROP TABLE carillon." + table));
    }

    private static long partitions() {
        return FIXTURE.query("SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
                        + " AND c.relkind = 'r'")
                .number();
    }

    @ParameterizedTest
    @MethodSource("writers")
    void a_writer_creates_the_missing_partition(String name) throws Exception {
        LostAnswer twice =
                new LostAnswerCases(FIXTURE, storage(), FIXTURE.database().dataSource()).of(name);
        dropAll();

        twice.call().call();

        assertThat(partitions()).isPositive();
        twice.check().verify(twice.call().call());
    }

    @Test
    void a_group_of_many_days_creates_all_missing_partitions() {
        enqueue(RunSpec.mail(), 30);
        UUID node = node();
        List<Attempt> attempts = claim(node, 30);
        FIXTURE.database()
                .execute("UPDATE carillon.run r SET day = '2021-01-01'::date + n::int"
                        + " FROM (SELECT id, row_number() OVER () AS n FROM carillon.run) x"
                        + " WHERE x.id = r.id");

        storage()
                .runs()
                .apply(
                        node,
                        attempts.stream()
                                .map(attempt -> ended(attempt, complete()))
                                .toList());

        assertThat(attempts)
                .allSatisfy(attempt -> assertThat(get(attempt.run()).state()).isEqualTo(RunState.SUCCEEDED));
    }

    @Test
    void an_ending_in_the_callers_transaction_creates_the_partition_and_keeps_the_callers_writes() throws SQLException {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        dropAll();
        FIXTURE.database().execute("CREATE TABLE IF NOT EXISTS business (x integer)");

        try (Connection connection = FIXTURE.open();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO business VALUES (1)");
            assertThat(storage().runs().applyIn(connection, node, ended(attempt, complete())))
                    .isTrue();
            connection.commit();
            connection.setAutoCommit(true);
        }

        assertThat(get(id).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(FIXTURE.query("SELECT count(*) FROM business").number()).isEqualTo(1);
    }

    @Test
    void a_pause_whose_last_instant_is_days_ago_is_resumed() {
        store(ScheduleSpec.of(When.cron("0 0 1 * *", "UTC")));
        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        advance(Duration.ofDays(48));
        dropAll();

        assertThat(storage().schedules().resume(PROJECT, "report")).isTrue();

        assertThat(ledger("report").get(0).to()).isEqualTo(Instant.parse("2026-04-01T00:00:00Z"));
    }
}
