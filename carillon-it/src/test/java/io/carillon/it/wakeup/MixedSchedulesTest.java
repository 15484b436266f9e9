package io.carillon.it.wakeup;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.it.fixture.StatementCounter;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ten thousand schedules, of which few are due in each minute, cost as much as those few alone. */
@Tag("slow")
class MixedSchedulesTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Duration WINDOW = Duration.ofSeconds(30);
    private static final int EVERY_MINUTE = 1_000;
    private static final int HOURLY = 4_000;
    private static final int DAILY = 5_000;

    @Test
    void ten_thousand_mixed_schedules_cost_as_much_as_the_due_ones_alone() {
        try (MeasuredNode all = new MeasuredNode(HOURLY, DAILY);
                MeasuredNode few = new MeasuredNode(0, 0)) {
            all.restart();
            few.restart();
            Awaitility.await().atMost(WINDOW.multipliedBy(2)).pollDelay(WINDOW).until(() -> true);
            Cost ten = all.cost();
            Cost one = few.cost();
            System.out.printf("10,000 mixed schedules: %s; the 1,000 minutely schedules alone: %s%n", ten, one);

            // All schedules with an instant per minute, some of the hourly ones, and few of the daily ones.
            double due = EVERY_MINUTE / 60.0 + HOURLY / 3_600.0 + DAILY / 86_400.0;
            assertThat(ten.fires / (double) WINDOW.toSeconds()).isBetween(due * 0.85, due * 1.15);
            assertThat(ten.perFire()).isLessThan(one.perFire() * 1.2);
            assertThat(ten.perFire()).isLessThan(5);
        }
    }

    private record Cost(long fires, long statements) {
        double perFire() {
            return (double) statements / fires;
        }

        @Override
        public String toString() {
            return "%.1f runs and %.1f statements per second, %.2f statements per run"
                    .formatted(
                            (double) fires / WINDOW.toSeconds(), (double) statements / WINDOW.toSeconds(), perFire());
        }
    }

    /** A node with its schedules on its own database. */
    private static final class MeasuredNode implements AutoCloseable {
        private final TestDatabase database = TestDatabase.migrated();
        private final AtomicLong fires = new AtomicLong();
        private final StatementCounter statements = new StatementCounter(database.pool(12));
        private final Carillon node;

        MeasuredNode(int hourly, int daily) {
            try (Carillon client = carillon().build()) {
                store(client, "minute", EVERY_MINUTE, Duration.ofMinutes(1));
                store(client, "hour", hourly, Duration.ofHours(1));
                store(client, "day", daily, Duration.ofDays(1));
            }
            node = carillon().start();
            eventually().until(() -> fires.get() > EVERY_MINUTE / 10);
        }

        private CarillonBuilder carillon() {
            return Carillon.on(statements.source()).handle(JOB, (job, run) -> fires.incrementAndGet());
        }

        /** Stores schedules whose instants are spread evenly over their period. */
        private static void store(Carillon client, String name, int count, Duration period) {
            ZonedDateTime start = Instant.EPOCH.atZone(ZoneOffset.UTC);
            IntStream.range(0, count).parallel().forEach(i -> {
                ZonedDateTime phase = start.plus(period.toMillis() * i / count, ChronoUnit.MILLIS);
                client.schedules()
                        .upsert(
                                name + i,
                                When.every(period.toSeconds(), ChronoUnit.SECONDS, phase),
                                JOB,
                                new Job(name));
            });
        }

        void restart() {
            fires.set(0);
            statements.restart();
        }

        Cost cost() {
            return new Cost(
                    fires.get(),
                    statements.byThread().values().stream()
                            .mapToLong(Long::longValue)
                            .sum());
        }

        @Override
        public void close() {
            node.close();
            database.close();
        }
    }
}
