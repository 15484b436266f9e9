package io.carillon.it.wakeup;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
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

/** Ten thousand schedules, few of which are due in a minute: what they cost is what those few cost alone. */
@Tag("slow")
class MixedSchedulesTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Duration WINDOW = Duration.ofSeconds(30);
    private static final int EVERY_MINUTE = 1_000;
    private static final int HOURLY = 4_000;
    private static final int DAILY = 5_000;

    @Test
    void ten_thousand_mixed_schedules_cost_what_is_due() {
        try (Side all = new Side(HOURLY, DAILY);
                Side few = new Side(0, 0)) {
            all.restart();
            few.restart();
            Awaitility.await().atMost(WINDOW.multipliedBy(2)).pollDelay(WINDOW).until(() -> true);
            Cost ten = all.cost();
            Cost one = few.cost();
            System.out.printf("10,000 mixed schedules: %s; the 1,000 of every minute alone: %s%n", ten, one);

            // All those of every minute, some of the hourly ones, and now and then one of a day.
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
            return "%.1f fires and %.1f statements a second, %.2f statements for each"
                    .formatted(
                            (double) fires / WINDOW.toSeconds(), (double) statements / WINDOW.toSeconds(), perFire());
        }
    }

    /** A node with its schedules, on a database of its own. */
    private static final class Side implements AutoCloseable {
        private final TestDatabase database = TestDatabase.migrated();
        private final AtomicLong fires = new AtomicLong();
        private final CountedStatements statements = new CountedStatements(database.pool(12));
        private final Carillon node;

        Side(int hourly, int daily) {
            try (Carillon desk = carillon().build()) {
                store(desk, "minute", EVERY_MINUTE, Duration.ofMinutes(1));
                store(desk, "hour", hourly, Duration.ofHours(1));
                store(desk, "day", daily, Duration.ofDays(1));
            }
            node = carillon().start();
            eventually().until(() -> fires.get() > EVERY_MINUTE / 10);
        }

        private CarillonBuilder carillon() {
            return Carillon.on(statements.source()).handle(JOB, (job, run) -> fires.incrementAndGet());
        }

        /** Spread evenly over their period. */
        private static void store(Carillon desk, String name, int count, Duration period) {
            ZonedDateTime start = Instant.EPOCH.atZone(ZoneOffset.UTC);
            IntStream.range(0, count).parallel().forEach(i -> {
                ZonedDateTime phase = start.plus(period.toMillis() * i / count, ChronoUnit.MILLIS);
                desk.schedules()
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
