package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
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

/** Whoever writes history makes the partition it misses, and nobody sees the failure. The writers are read from the statements. */
class MissingPartitionTest extends PlanningContract {
    private static final Pattern HISTORY =
            Pattern.compile("INSERT INTO carillon\\.(run_history|attempt|ledger_gap)\\b");

    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    static Stream<String> writers() {
        return LostAnswerTest.statements()
                .filter(name -> HISTORY.matcher(Statements.text(name)).find());
    }

    private static void dropAll() {
        BENCH.rows().texts("""
                        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                         WHERE c.relnamespace = 'carillon'::regnamespace AND c.relkind = 'r'
                        """).forEach(partition -> BENCH.database().execute("DROP TABLE carillon." + partition));
    }

    private static long partitions() {
        return BENCH.rows()
                .number("SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid AND c.relkind = 'r'");
    }

    @ParameterizedTest
    @MethodSource("writers")
    void makes_the_partition_it_misses(String name) throws Exception {
        LostAnswer twice =
                new LostAnswerCases(BENCH, storage(), BENCH.database().dataSource()).of(name);
        dropAll();

        twice.deed().call();

        assertThat(partitions()).isPositive();
        twice.check().on(twice.deed().call());
    }

    @Test
    void a_group_of_many_days_makes_them_all() {
        enqueue(Order.mail(), 30);
        UUID node = node();
        List<Attempt> attempts = claim(node, 30);
        BENCH.database()
                .execute(
                        "UPDATE carillon.run r SET day = '2021-01-01'::date + n::int FROM (SELECT id, row_number() OVER () AS n FROM carillon.run) x"
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
    void an_ending_in_the_callers_transaction_makes_it_too_and_keeps_what_the_caller_wrote() throws SQLException {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        dropAll();
        BENCH.database().execute("CREATE TABLE IF NOT EXISTS business (x integer)");

        try (Connection connection = BENCH.open();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO business VALUES (1)");
            assertThat(storage().runs().applyIn(connection, node, ended(attempt, complete())))
                    .isTrue();
            connection.commit();
            connection.setAutoCommit(true);
        }

        assertThat(get(id).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(BENCH.rows().number("SELECT count(*) FROM business")).isEqualTo(1);
    }

    @Test
    void a_pause_whose_last_instant_lies_days_back_is_resumed() {
        store(Promise.of(When.cron("0 0 1 * *", "UTC")));
        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        advance(Duration.ofDays(48));
        dropAll();

        assertThat(storage().schedules().resume(PROJECT, "report")).isTrue();

        assertThat(ledger("report").get(0).to()).isEqualTo(Instant.parse("2026-04-01T00:00:00Z"));
    }
}
