package io.carillon.it.wakeup;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.Wakeup;
import io.carillon.it.fixture.StatementCounter;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Schedules that are not due soon cause no additional statements, however many there are. */
class ScheduleStatementsTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final int SCHEDULES = 10_000;
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @Tag("slow")
    @Test
    void a_run_due_call_sends_the_same_statements_with_and_without_schedules() {
        try (IdleCarillon none = new IdleCarillon(Wakeup.http());
                IdleCarillon many = new IdleCarillon(Wakeup.http())) {
            many.schedule(SCHEDULES);

            assertThat(many.statementsOfARound()).isEqualTo(none.statementsOfARound());
        }
    }

    @Tag("slow")
    @Test
    void an_idle_node_sends_as_many_statements_with_as_without_schedules() {
        try (IdleCarillon none = new IdleCarillon(Wakeup.notifying());
                IdleCarillon many = new IdleCarillon(Wakeup.notifying())) {
            many.schedule(SCHEDULES);
            none.settle();
            many.settle();
            none.statements.restart();
            many.statements.restart();
            Awaitility.await().atMost(MINUTE.multipliedBy(2)).pollDelay(MINUTE).until(() -> true);
            Map<String, Long> without = none.statements.byThread();
            Map<String, Long> with = many.statements.byThread();
            System.out.printf("statements per minute schedules=0 all=%d %s%n", all(without), without);
            System.out.printf("statements per minute schedules=%d all=%d %s%n", SCHEDULES, all(with), with);

            // A round of a loop may fall into one measuring window and not into the other.
            assertThat(all(with)).isLessThanOrEqualTo(all(without) + 10);
            assertThat(with.getOrDefault("carillon-plan", 0L)).isLessThanOrEqualTo(8);
        }
    }

    private static long all(Map<String, Long> counted) {
        return counted.values().stream().mapToLong(Long::longValue).sum();
    }

    /** A process without work on its own database. */
    private static final class IdleCarillon implements AutoCloseable {
        private final TestDatabase database = TestDatabase.migrated();
        private final StatementCounter statements = new StatementCounter(database.pool(12));
        private final Carillon carillon;

        IdleCarillon(Wakeup wakeup) {
            carillon = Carillon.on(statements.source())
                    .wakeup(wakeup)
                    .handle(JOB, (job, run) -> {})
                    .start();
        }

        /** Stores schedules whose next instant is tomorrow. */
        void schedule(int count) {
            carillon.schedules().upsert("s1", When.every(Duration.ofDays(1)), JOB, new Job("x"));
            database.execute("""
                    INSERT INTO carillon.schedule
                    SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'name', 's' || i))).*
                      FROM carillon.schedule s, generate_series(2, %d) i
                    """.formatted(count));
        }

        /** Returns the statements of the second call, because the first also executes one-time statements. */
        long statementsOfARound() {
            carillon.runDue(Duration.ofSeconds(5));
            statements.restart();
            assertThat(carillon.runDue(Duration.ofSeconds(5)).processed()).isZero();
            return all(statements.byThread());
        }

        void settle() {
            eventually().until(() -> carillon.health().healthy());
            eventually().until(() -> carillon.status().orElseThrow().counts().polls() > 0);
        }

        @Override
        public void close() {
            carillon.close();
            database.close();
        }
    }
}
