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
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * How many statements an idle process of each wake-up mode sends, counted at its data source. Each mode has its own
 * database; all are measured at the same time.
 */
class StatementRateTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);

    private static final Duration WINDOW = Duration.ofSeconds(6);

    @Tag("slow")
    @Test
    void an_idle_process_sends_the_statements_expected_of_its_mode() {
        MemoryTransport transport = new MemoryTransport();
        Map<Wakeup.Mode, IdleProcess> idle = new EnumMap<>(Wakeup.Mode.class);
        Stream.of(
                        // The longest interval from the beginning; an idle node takes a minute to reach it.
                        Wakeup.polling(Duration.ofSeconds(2), Duration.ofSeconds(2)),
                        Wakeup.notifying(),
                        Wakeup.queue(transport),
                        Wakeup.hybrid(transport),
                        Wakeup.http())
                .forEach(wakeup -> idle.put(wakeup.mode(), new IdleProcess(wakeup)));
        IdleProcess scheduled = new IdleProcess(Wakeup.notifying());
        try {
            scheduled.schedule(200);
            idle.values().forEach(IdleProcess::settle);
            scheduled.settle();
            idle.values().forEach(IdleProcess::restart);
            scheduled.restart();
            Awaitility.await().atMost(WINDOW.multipliedBy(2)).pollDelay(WINDOW).until(() -> true);
            Map<Wakeup.Mode, Map<String, Long>> counted = new EnumMap<>(Wakeup.Mode.class);
            idle.forEach((mode, one) -> counted.put(mode, one.statements.byThread()));
            counted.forEach((mode, count) -> System.out.printf(
                    "statements mode=%s per second=%.1f polls per second=%.1f %s%n",
                    mode.text(), perSecond(all(count)), perSecond(headReads(count)), count));

            assertThat(all(counted.get(Wakeup.Mode.HTTP))).isZero();
            assertThat(headReads(counted.get(Wakeup.Mode.QUEUE))).isZero();
            assertThat(headReads(counted.get(Wakeup.Mode.POLLING))).isBetween(2L, 4L);
            assertThat(headReads(counted.get(Wakeup.Mode.NOTIFY))).isBetween(5L, 8L);
            assertThat(headReads(counted.get(Wakeup.Mode.HYBRID))).isBetween(5L, 11L);
            // The node sends self-pings to check LISTEN; no other process sends notifications.
            assertThat(counted.get(Wakeup.Mode.NOTIFY)).containsKey("carillon-wakeup-send");
            assertThat(Stream.of(Wakeup.Mode.POLLING, Wakeup.Mode.QUEUE, Wakeup.Mode.HYBRID))
                    .allMatch(mode -> !counted.get(mode).containsKey("carillon-wakeup-send"));
            assertThat(counted.values()).allMatch(count -> perSecond(all(count)) < 4);
            // A planning round may fall into either measuring window.
            assertThat(all(scheduled.statements.byThread())).isLessThan(all(counted.get(Wakeup.Mode.NOTIFY)) + 10);
        } finally {
            scheduled.close();
            idle.values().forEach(IdleProcess::close);
            transport.close();
        }
    }

    private static long headReads(Map<String, Long> counted) {
        return counted.getOrDefault("carillon-claim", 0L);
    }

    private static long all(Map<String, Long> counted) {
        return counted.values().stream().mapToLong(Long::longValue).sum();
    }

    private static double perSecond(long count) {
        return (double) count / WINDOW.toSeconds();
    }

    /** A process without work. */
    private static final class IdleProcess {
        private final TestDatabase database = TestDatabase.migrated();
        private final StatementCounter statements = new StatementCounter(database.pool(12));
        private final Carillon carillon;

        IdleProcess(Wakeup wakeup) {
            carillon = Carillon.on(statements.source())
                    .wakeup(wakeup)
                    .handle(JOB, (job, run) -> {})
                    .start();
        }

        /** Waits until the process has completed its start. */
        void settle() {
            if (carillon.status().isEmpty()) return;
            eventually().until(() -> carillon.health().healthy());
            eventually().until(() -> carillon.status().orElseThrow().counts().polls() > 0);
        }

        /** Stores schedules of which none is due soon. */
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
