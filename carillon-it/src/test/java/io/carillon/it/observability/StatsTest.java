package io.carillon.it.observability;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.Stats;
import io.carillon.Wakeup;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The statistics that the API returns and the meters read. */
@CarillonTest
class StatsTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Instant FAR = Instant.parse("2999-01-01T00:00:00Z");
    private final ApiFixture fixture;

    StatsTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
        fixture.database().clock().useRealTime();
    }

    @Test
    void count_due_runs_and_schedules() {
        Carillon carillon = client();
        assertThat(carillon.stats().queues()).isEmpty();
        assertThat(carillon.stats().scheduleCount()).isZero();
        carillon.enqueueAll(JOB, Collections.nCopies(3, new Job("x")));
        carillon.schedules().upsert("once", When.once(FAR), JOB, new Job("y"));
        fixture.database().clock().advance(Duration.ofMinutes(2));

        Stats stats = carillon.stats();

        assertThat(stats.queues()).singleElement().satisfies(queue -> {
            assertThat(queue.queue()).isEqualTo("job");
            assertThat(queue.due()).isEqualTo(3);
            assertThat(queue.oldestDue()).isBetween(Duration.ofSeconds(120), Duration.ofSeconds(150));
        });
        assertThat(stats.schedules()).containsExactly(new Stats.ScheduleStats("once", false, FAR, Duration.ZERO, null));
        assertThat(stats.scheduleCount()).isOne();
        assertThat(stats.activeSchedules()).isOne();
    }

    @Test
    void executions_of_the_last_hour_are_counted() {
        Carillon carillon = fixture.client(builder -> builder.handle(JOB, (job, run) -> {
            if (job.name().equals("bad")) throw new IllegalStateException("no");
        }));
        carillon.enqueueAll(JOB, Collections.nCopies(3, new Job("good")));
        carillon.enqueue(JOB, new Job("bad"), Enqueue.now().retry(Retry.none()));
        assertThat(carillon.stats().executions()).isEqualTo(new Stats.Executions(0, Duration.ZERO, 0, 0));

        carillon.runDue(Duration.ofSeconds(20));

        Stats.Executions executions = carillon.stats().executions();
        assertThat(executions.perMinute()).isEqualTo(4 / 60.0);
        assertThat(executions.averageTime()).isPositive();
        assertThat(executions.failureRate()).isEqualTo(0.25);
        assertThat(executions.recoveries()).isZero();
    }

    @Test
    void a_paused_schedule_has_no_next_instant() {
        Carillon carillon = client();
        carillon.schedules().upsert("every", When.every(Duration.ofMinutes(1)), JOB, new Job("y"));
        assertThat(carillon.stats().schedules())
                .singleElement()
                .satisfies(one -> assertThat(one.nextAt()).isNotNull());

        carillon.schedules().pause("every");
        fixture.database().clock().advance(Duration.ofHours(2));

        assertThat(carillon.stats().schedules()).singleElement().satisfies(one -> {
            assertThat(one.paused()).isTrue();
            assertThat(one.nextAt()).isNull();
        });
        carillon.schedules().delete("every");
    }

    @Test
    void show_stalled_runs_and_the_oldest_transaction() throws SQLException {
        Carillon carillon = client();
        carillon.enqueue(JOB, new Job("x"));
        assertThat(carillon.stats().stalledRuns()).isZero();
        assertThat(carillon.stats().oldestTransaction()).isLessThan(Duration.ofMinutes(5));
        fixture.database()
                .execute(
                        "UPDATE carillon.run SET owner = gen_random_uuid(), attempt = 1, started_at = carillon.clock(),"
                                + " leased_until = carillon.clock() - interval '1 minute'");

        try (Connection connection = fixture.database().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT pg_current_xact_id()");
            fixture.database().clock().advance(Duration.ofMinutes(10));

            Stats stats = carillon.stats();

            assertThat(stats.stalledRuns()).isOne();
            assertThat(stats.oldestTransaction()).isGreaterThan(Duration.ofMinutes(10));
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    private Carillon client() {
        return fixture.client(builder -> builder.wakeup(Wakeup.http()).handle(JOB, (job, run) -> {}));
    }
}
