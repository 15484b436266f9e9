package io.carillon.it.observability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.Stats.RunStats;
import io.carillon.Stats.RunStats.Count;
import io.carillon.Stats.RunStats.Figures;
import io.carillon.Stats.RunStats.Grouping;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The statistics per minute that a process counts, writes and reads. */
@CarillonTest
class RunStatsTest {
    record Job(String what) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final HandlerType<Job> MAIL = HandlerType.of("mail", Job.class);
    private static final Instant NOON = Instant.parse("2027-03-01T12:00:00Z");
    private static final Duration BUDGET = Duration.ofSeconds(20);

    private final ApiFixture fixture;

    RunStatsTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
        fixture.database().clock().useRealTime();
    }

    private Carillon client() {
        return fixture.client(builder -> builder.handleReturning(JOB, (job, run) -> switch (job.what()) {
                    case "fail" -> Outcome.failed(new IllegalStateException("no"));
                    case "reject" -> Outcome.rejected("never");
                    default -> Outcome.succeeded(null);
                })
                .handle(MAIL, (job, run) -> {}));
    }

    private static void run(Carillon carillon, String... what) {
        for (String one : what) carillon.enqueue(JOB, new Job(one));
        carillon.runDue(BUDGET);
    }

    private static Map<String, Long> ended(List<RunStats.Group> groups) {
        return groups.stream()
                .collect(Collectors.toMap(
                        group -> group.kind() + " " + group.name(),
                        group -> group.total().ended()));
    }

    @Test
    void attempts_are_counted_by_outcome_with_their_durations() {
        Carillon carillon = client();
        run(carillon, "ok", "ok", "ok", "fail", "reject");

        Figures total = carillon.stats(RunStats.query()).total();

        assertThat(total.counts())
                .isEqualTo(Map.of(Count.STARTED, 5L, Count.SUCCEEDED, 3L, Count.RETRIED, 1L, Count.DEAD, 1L));
        assertThat(total.ended()).isEqualTo(4);
        assertThat(total.failureRate()).contains(0.25);
        assertThat(total.runTime().count()).isEqualTo(5);
        assertThat(total.waitTime().count()).isEqualTo(5);
        assertThat(total.waitTime().p99()).isLessThan(BUDGET);
        assertThat(total.lateness().count()).as("no ticks").isZero();
        assertThat(total.perSecond()).isPositive();
    }

    @Test
    void a_retry_counts_no_wait_and_a_tick_counts_its_lateness() {
        fixture.database().clock().stopAt(NOON);
        Carillon carillon = client();
        carillon.schedules().upsert("every", When.every(Duration.ofMinutes(1)), MAIL, new Job("tick"));
        carillon.enqueue(
                JOB, new Job("fail"), Enqueue.now().retry(Retry.defaults().attempts(2)));
        carillon.runDue(BUDGET);
        fixture.database().clock().stopAt(NOON.plus(Duration.ofMinutes(2)));
        carillon.runDue(BUDGET);
        carillon.schedules().delete("every");

        RunStats stats = carillon.stats(RunStats.query().by(Grouping.TARGET));

        Map<String, RunStats.Group> groups =
                stats.groups().stream().collect(Collectors.toMap(RunStats.Group::name, group -> group));
        assertThat(groups.get("job").total().waitTime().count()).isOne();
        assertThat(groups.get("job").total().runTime().count()).isEqualTo(2);
        assertThat(groups.get("mail").total().lateness().count()).isPositive();
    }

    @Test
    void points_and_groups_divide_the_total() {
        fixture.database().clock().stopAt(NOON);
        Carillon carillon = client();
        run(carillon, "ok", "ok");
        fixture.database().clock().stopAt(NOON.plus(Duration.ofMinutes(7)));
        carillon.enqueue(MAIL, new Job("ok"));
        run(carillon, "ok");

        RunStats stats = carillon.stats(RunStats.query()
                .from(NOON)
                .to(NOON.plus(Duration.ofMinutes(10)))
                .step(Duration.ofMinutes(5))
                .by(Grouping.QUEUE));

        assertThat(stats.total().ended()).isEqualTo(4);
        assertThat(stats.points()).hasSize(2);
        assertThat(stats.points().stream().map(point -> point.figures().ended()))
                .containsExactly(2L, 2L);
        assertThat(stats.points().get(1).at()).isEqualTo(NOON.plus(Duration.ofMinutes(5)));
        assertThat(stats.points().get(1).figures().period())
                .as("the part of the step that has passed")
                .isLessThan(Duration.ofMinutes(4));
        assertThat(ended(stats.groups())).isEqualTo(Map.of("queue job", 3L, "queue mail", 1L));
        assertThat(ended(carillon.stats(RunStats.query().limit(1).by(Grouping.TARGET))
                        .groups()))
                .isEqualTo(Map.of("handler job", 3L, "other ", 1L));
        assertThat(carillon.stats(RunStats.query().queue("mail")).total().ended())
                .isOne();
        assertThat(carillon.stats(RunStats.query().handler("job")).total().ended())
                .isEqualTo(3);
    }

    @Test
    void outcomes_are_groups() {
        Carillon carillon = client();
        run(carillon, "ok", "ok", "reject");

        RunStats stats = carillon.stats(RunStats.query().by(Grouping.OUTCOME).step(Duration.ofMinutes(30)));

        assertThat(stats.groups().stream().map(RunStats.Group::name)).containsExactly("succeeded", "dead");
        assertThat(stats.groups().get(0).total().counts()).isEqualTo(Map.of(Count.SUCCEEDED, 2L));
        assertThat(stats.groups().get(0).points().stream()
                        .mapToLong(point -> point.figures().count(Count.SUCCEEDED))
                        .sum())
                .isEqualTo(2);
    }

    @Test
    void skipped_and_missed_instants_and_actions_of_operators_are_counted() throws SQLException {
        fixture.database().clock().stopAt(NOON);
        Carillon carillon = client();
        carillon.schedules().upsert("every", When.every(Duration.ofMinutes(1)), MAIL, new Job("tick"));
        fixture.database().clock().stopAt(NOON.plus(Duration.ofMinutes(30)));
        carillon.runDue(BUDGET);
        carillon.schedules().pause("every");
        fixture.database().clock().stopAt(NOON.plus(Duration.ofMinutes(40)));
        carillon.schedules().resume("every");
        carillon.schedules().delete("every");
        RunId dead = carillon.enqueue(JOB, new Job("reject")).run();
        carillon.runDue(BUDGET);
        carillon.runs().redrive(dead);
        for (int i = 0; i < 3; i++) carillon.enqueue(MAIL, new Job("later"), Enqueue.after(Duration.ofHours(1)));
        carillon.runs()
                .bulk(RunFilter.all().queue("mail").state(RunState.WAITING))
                .cancel();
        RunId last = carillon.enqueue(MAIL, new Job("later"), Enqueue.after(Duration.ofHours(1)))
                .run();
        List<Runnable> afterCommit = new ArrayList<>();
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            carillon.in(connection, afterCommit::add).runs().cancel(last, "enough");
            connection.commit();
        }
        carillon.runDue(BUDGET);
        assertThat(carillon.stats(RunStats.query()).total().count(Count.CANCELLED))
                .as("before the tasks after the commit")
                .isEqualTo(ledger("cancelled") - 1)
                .isGreaterThanOrEqualTo(3);
        afterCommit.forEach(Runnable::run);
        carillon.runDue(BUDGET);

        Figures total = carillon.stats(RunStats.query()).total();
        assertThat(total.count(Count.CANCELLED)).isEqualTo(ledger("cancelled"));
        assertThat(total.count(Count.REDRIVEN)).isOne();
        assertThat(total.count(Count.MISSED)).isEqualTo(ledger("missed")).isPositive();
        assertThat(total.count(Count.SKIPPED)).isEqualTo(ledger("skipped")).isPositive();
    }

    /** Returns the number of instants in this state. */
    private long ledger(String state) {
        return fixture.query(
                        "SELECT (SELECT count(*) FROM carillon.run_history WHERE state = ?)"
                                + " + (SELECT coalesce(sum(count), 0) FROM carillon.ledger_gap WHERE state = ?)",
                        state,
                        state)
                .number();
    }

    @Test
    void runs_of_a_dead_node_are_counted_as_rescued() {
        Carillon carillon = client();
        try (Storage storage = new PostgresStorage(fixture.database().pool(4), TickPlanner.defaults())) {
            List<String> counted = new ArrayList<>();
            storage.countEndings((series, what, number) -> counted.add(series.queue() + " " + what + " " + number));
            carillon.enqueueAll(JOB, Collections.nCopies(2, new Job("ok")));
            fixture.database()
                    .execute("UPDATE carillon.run SET owner = gen_random_uuid(), attempt = 1,"
                            + " leased_until = carillon.clock() - interval '1 minute'");

            storage.nodes().rescue(3);

            assertThat(counted).containsExactly("job RESCUED 2");
        }
    }

    @Test
    void a_project_sees_its_own_runs_only() {
        Carillon carillon = client();
        run(carillon, "ok");
        carillon.project("second").enqueue(JOB, new Job("ok"));
        carillon.runDue(BUDGET);

        assertThat(carillon.stats(RunStats.query()).total().ended()).isOne();
        assertThat(carillon.project("second").stats(RunStats.query()).total().ended())
                .isOne();
    }

    @Test
    void a_node_writes_its_counts_within_seconds_and_when_it_closes() {
        Carillon reader = fixture.client(builder -> builder);
        Carillon node = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        node.enqueueAll(JOB, Collections.nCopies(20, new Job("ok")));
        ApiFixture.eventually()
                .until(() -> reader.stats(RunStats.query()).total().ended() == 20);
        node.enqueue(JOB, new Job("ok"));
        ApiFixture.eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run_history")
                                .number()
                        == 21);
        node.close();

        assertThat(reader.stats(RunStats.query()).total().ended()).isEqualTo(21);
    }

    @Test
    void long_ranges_are_read_from_hours_and_from_the_minutes_that_follow() {
        fixture.database().clock().stopAt(NOON.minus(Duration.ofHours(8)));
        Carillon carillon = client();
        run(carillon, "ok", "ok");
        fixture.database().clock().stopAt(NOON.minus(Duration.ofHours(7)).plusSeconds(90));
        run(carillon, "ok");
        fixture.database().clock().stopAt(NOON);
        run(carillon, "reject");
        RunStats.Query day =
                RunStats.query().from(NOON.minus(Duration.ofHours(24))).step(Duration.ofHours(1));
        RunStats before = carillon.stats(day);
        assertThat(before.total().counts()).containsEntry(Count.SUCCEEDED, 3L).containsEntry(Count.DEAD, 1L);

        assertThat(maintain()).isZero();
        assertThat(fixture.query("SELECT count(*) FROM carillon.stats_hour WHERE queue <> ''")
                        .number())
                .isEqualTo(2);
        fixture.database().execute("DELETE FROM carillon.stats_minute WHERE minute < '2027-03-01T12:00:00Z'");

        RunStats after = carillon.stats(day);
        assertThat(after.total()).isEqualTo(before.total());
        assertThat(after.points()).isEqualTo(before.points());
        assertThat(after.points().stream()
                        .filter(point -> point.figures().ended() > 0)
                        .map(RunStats.Point::at))
                .containsExactly(NOON.minus(Duration.ofHours(8)), NOON.minus(Duration.ofHours(7)), NOON);
    }

    @Test
    void old_minutes_and_hours_are_removed() {
        fixture.database().clock().stopAt(NOON.minus(Duration.ofHours(40)));
        Carillon carillon = client();
        run(carillon, "ok");
        fixture.database().clock().stopAt(NOON);
        run(carillon, "ok");
        maintain();
        fixture.database().clock().stopAt(NOON.plus(Duration.ofHours(9)));

        assertThat(maintain()).as("one minute, and its sum").isEqualTo(2);
        assertThat(fixture.query("SELECT count(*) FROM carillon.stats_hour WHERE queue <> ''")
                        .number())
                .isEqualTo(2);
        fixture.database().clock().stopAt(NOON.plus(Duration.ofDays(89)));
        assertThat(maintain())
                .as("one minute and the older hour, and their sums")
                .isEqualTo(4);
    }

    /** Computes hours and removes old rows as a node does, and returns the number of removed rows. */
    private int maintain() {
        try (Storage storage = new PostgresStorage(fixture.database().pool(4), TickPlanner.defaults())) {
            return storage.maintenance().maintainStats(Duration.ofDays(2), Duration.ofDays(90));
        }
    }

    @Test
    void a_range_that_is_too_fine_or_reversed_is_refused() {
        Carillon carillon = client();
        Instant now = Instant.now().truncatedTo(ChronoUnit.MINUTES);
        RunStats.Query query = RunStats.query().to(now);

        assertThatThrownBy(() -> carillon.stats(query.from(now.plusSeconds(60))))
                .isInstanceOf(CarillonException.class)
                .hasMessageStartingWith("from must be before to");
        assertThatThrownBy(() -> carillon.stats(query.last(Duration.ofHours(7)).step(Duration.ofMinutes(5))))
                .hasMessage("step must be a multiple of 1 hour for a range of more than 6 hours (was PT5M).");
        assertThatThrownBy(() -> carillon.stats(query.last(Duration.ofDays(90)).step(Duration.ofHours(1))))
                .hasMessageStartingWith("step must be longer");
        assertThatThrownBy(() -> query.step(Duration.ofSeconds(90)))
                .hasMessage("step must be a multiple of 1 minute (was PT1M30S).");
        assertThatThrownBy(() -> query.limit(101)).hasMessage("limit must be between 1 and 100 (was 101).");
    }
}
