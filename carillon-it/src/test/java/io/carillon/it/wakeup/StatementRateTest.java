package io.carillon.it.wakeup;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import io.carillon.store.Wakeup;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How often an idle process of each mode asks the database, counted at its data source; each mode on a database of its own, all at the same time. */
class StatementRateTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);

    private static final Duration WINDOW = Duration.ofSeconds(6);

    @Tag("slow")
    @Test
    void an_idle_process_asks_as_often_as_its_mode_says() {
        MemoryTransport transport = new MemoryTransport();
        Map<Wakeup.Mode, Idle> idle = new EnumMap<>(Wakeup.Mode.class);
        Stream.of(
                        // As if it had slowed down already, which takes a minute.
                        Wakeup.polling(Duration.ofSeconds(2), Duration.ofSeconds(2)),
                        Wakeup.notifying(),
                        Wakeup.queue(transport),
                        Wakeup.hybrid(transport),
                        Wakeup.http())
                .forEach(wakeup -> idle.put(wakeup.mode(), new Idle(wakeup)));
        Idle scheduled = new Idle(Wakeup.notifying());
        try {
            scheduled.schedule(200);
            idle.values().forEach(Idle::settle);
            scheduled.settle();
            idle.values().forEach(Idle::restart);
            scheduled.restart();
            Awaitility.await().atMost(WINDOW.multipliedBy(2)).pollDelay(WINDOW).until(() -> true);
            Map<Wakeup.Mode, Map<String, Long>> counted = new EnumMap<>(Wakeup.Mode.class);
            idle.forEach((mode, one) -> counted.put(mode, one.statements.byThread()));
            counted.forEach((mode, count) -> System.out.printf(
                    "statements mode=%s per second=%.1f looks per second=%.1f %s%n",
                    mode.text(), perSecond(all(count)), perSecond(looks(count)), count));

            assertThat(all(counted.get(Wakeup.Mode.HTTP))).isZero();
            assertThat(looks(counted.get(Wakeup.Mode.QUEUE))).isZero();
            assertThat(looks(counted.get(Wakeup.Mode.POLLING))).isBetween(2L, 4L);
            assertThat(looks(counted.get(Wakeup.Mode.NOTIFY))).isBetween(5L, 8L);
            assertThat(looks(counted.get(Wakeup.Mode.HYBRID))).isBetween(5L, 11L);
            // Pings prove LISTEN, and nobody else sends anything.
            assertThat(counted.get(Wakeup.Mode.NOTIFY)).containsKey("carillon-announce");
            assertThat(Stream.of(Wakeup.Mode.POLLING, Wakeup.Mode.QUEUE, Wakeup.Mode.HYBRID))
                    .allMatch(mode -> !counted.get(mode).containsKey("carillon-announce"));
            assertThat(counted.values()).allMatch(count -> perSecond(all(count)) < 4);
            // A round of planning may fall into either window.
            assertThat(all(scheduled.statements.byThread())).isLessThan(all(counted.get(Wakeup.Mode.NOTIFY)) + 10);
        } finally {
            scheduled.close();
            idle.values().forEach(Idle::close);
            transport.close();
        }
    }

    private static long looks(Map<String, Long> counted) {
        return counted.getOrDefault("carillon-claim", 0L);
    }

    private static long all(Map<String, Long> counted) {
        return counted.values().stream().mapToLong(Long::longValue).sum();
    }

    private static double perSecond(long count) {
        return (double) count / WINDOW.toSeconds();
    }

    /** A process without work. */
    private static final class Idle {
        private final TestDatabase database = TestDatabase.migrated();
        private final CountedStatements statements = new CountedStatements(database.pool(12));
        private final Carillon carillon;

        Idle(Wakeup wakeup) {
            carillon = Carillon.on(statements.source())
                    .wakeup(wakeup)
                    .handle(JOB, (job, run) -> {})
                    .start();
        }

        /** Until it has done what a start does. */
        void settle() {
            if (carillon.status().isEmpty()) return;
            eventually().until(() -> carillon.health().healthy());
            eventually().until(() -> carillon.status().orElseThrow().counts().looks() > 0);
        }

        /** Gives it schedules of which none is due soon. */
        void schedule(int count) {
            for (int i = 0; i < count; i++)
                carillon.schedules().upsert("s" + i, When.every(Duration.ofDays(1)), JOB, new Job("x"));
        }

        void restart() {
            statements.restart();
        }

        void close() {
            carillon.close();
            database.close();
        }
    }
}
