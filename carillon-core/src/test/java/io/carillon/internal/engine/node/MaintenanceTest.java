package io.carillon.internal.engine.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.NodeConfig;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.loop.LoopTest;
import io.carillon.internal.store.MaintenanceStore;
import io.carillon.internal.store.TableStats;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class MaintenanceTest {
    static List<Arguments> everyStepAndKind() {
        List<Arguments> all = new ArrayList<>();
        for (String step : RecordingMaintenanceStore.STEPS)
            for (Throwable kind : List.of(
                    new IllegalStateException("runtime"),
                    new SQLException("sql", "57P01"),
                    new OutOfMemoryError("error"),
                    new StackOverflowError())) all.add(Arguments.of(step, kind));
        return all;
    }

    @ParameterizedTest
    @MethodSource("everyStepAndKind")
    void goes_on_after_everything_a_step_throws(String step, Throwable failure) throws Exception {
        RecordingMaintenanceStore store = new RecordingMaintenanceStore(step, failure, 2);
        try (Loop maintenance = new Maintenance(store, NodeConfig.defaults(), () -> 0).loop()) {
            maintenance.start();
            assertThat(store.calls).as("it cleans after a random delay").isEmpty();
            maintenance.wake();

            store.awaitDone(step, 1);
            assertThat(maintenance.failures()).isEqualTo(2);
            maintenance.wake();
            store.awaitDone(step, 1);
            assertThat(maintenance.isAlive()).isTrue();
            assertThat(maintenance.failures()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @MethodSource("everyStepAndKind")
    void a_step_that_always_fails_blocks_no_other_step(String step, Throwable failure) throws Exception {
        RecordingMaintenanceStore store = new RecordingMaintenanceStore(step, failure, Integer.MAX_VALUE);
        try (Loop maintenance = new Maintenance(store, NodeConfig.defaults(), () -> 0).loop()) {
            maintenance.start();
            maintenance.wake();

            for (String other : RecordingMaintenanceStore.STEPS) if (!other.equals(step)) store.awaitDone(other, 2);
            assertThat(maintenance.rounds())
                    .as("only the first round, which sleeps, succeeds")
                    .isEqualTo(1);
        }
    }

    @Test
    void passes_the_configured_retention_to_the_store() throws Exception {
        RecordingMaintenanceStore store = new RecordingMaintenanceStore("none", new IllegalStateException(), 0);
        Duration week = Duration.ofDays(7);
        NodeConfig config = NodeConfig.defaults().historyRetention(week).deadRunRetention(week.multipliedBy(2));
        try (Loop maintenance = new Maintenance(store, config, () -> 0).loop()) {
            maintenance.start();
            maintenance.wake();

            for (String step : RecordingMaintenanceStore.STEPS) store.awaitDone(step, 1);
        }
        assertThat(store.calls)
                .containsEntry("ensurePartitions", "7")
                .containsEntry("dropHistory", "PT168H")
                .containsEntry("purge", "PT336H PT1H");
    }

    /** A table in which an old transaction may prevent the removal of dead rows. */
    private static final class Table extends RecordingMaintenanceStore {
        private long dead;
        private long live;
        private long unremovable;
        private int vacuums;
        private int summaries;
        private boolean locked;

        Table() {
            super("none", new IllegalStateException(), 0);
        }

        @Override
        public TableStats tableStats() {
            return new TableStats(dead, live);
        }

        @Override
        public int summarizeHistory(int daysBefore) {
            summaries++;
            if (locked) throw new IllegalStateException("canceling statement due to lock timeout");
            return 1;
        }

        @Override
        public void vacuumRuns() {
            vacuums++;
            if (locked) throw new IllegalStateException("canceling statement due to statement timeout");
            dead = unremovable;
        }
    }

    private final AtomicLong ended = new AtomicLong();
    private final Table table = new Table();
    private final Maintenance tableMaintenance = new Maintenance(table, NodeConfig.defaults(), ended::get);

    /** Ends the given number of runs, each of which leaves a dead row, and returns how often the table was vacuumed. */
    private int vacuumsAfter(long runs) {
        ended.addAndGet(runs);
        table.dead += runs;
        int before = table.vacuums;
        tableMaintenance.checkTablesIfNeeded();
        return table.vacuums - before;
    }

    @Test
    void many_ended_runs_are_vacuumed_and_few_are_left_to_autovacuum() {
        assertThat(vacuumsAfter(19_999)).isZero();
        assertThat(vacuumsAfter(1)).isOne();
        assertThat(vacuumsAfter(10_000)).isZero();
        assertThat(vacuumsAfter(10_000)).isOne();
    }

    @Test
    void new_history_is_summarized_after_many_ended_runs_whether_or_not_a_vacuum_is_needed() {
        table.live = 1_000_000;
        vacuumsAfter(19_999);
        assertThat(table.summaries).isZero();
        vacuumsAfter(1);
        assertThat(table.summaries).isOne();
        table.locked = true;
        table.live = 0;
        assertThat(vacuumsAfter(20_000))
                .as("vacuums after a summary that failed")
                .isOne();
    }

    @Test
    void does_not_vacuum_while_most_rows_are_live() {
        table.live = 1_000_000;
        assertThat(vacuumsAfter(999_999)).isZero();
        assertThat(vacuumsAfter(100_000)).isOne();
    }

    @Test
    void does_not_vacuum_again_what_another_node_has_vacuumed() {
        ended.addAndGet(500_000);
        tableMaintenance.checkTablesIfNeeded();
        assertThat(table.vacuums).isZero();
    }

    @Test
    void rows_kept_by_an_old_transaction_are_vacuumed_again_when_they_have_doubled() {
        table.unremovable = 100_000;
        assertThat(vacuumsAfter(100_000)).isOne();
        table.unremovable = 200_000;
        assertThat(vacuumsAfter(99_999)).isZero();
        assertThat(vacuumsAfter(100_000))
                .as("dead rows were below 200,000 and are now below 300,000")
                .isOne();

        table.unremovable = 0;
        table.dead = 10;
        int vacuums = vacuumsAfter(100_000) + vacuumsAfter(110_000);
        assertThat(vacuums).as("rows are no longer kept").isOne();
        assertThat(vacuumsAfter(20_000)).as("threshold is back at 20,000").isOne();
    }

    @Test
    void a_vacuum_that_times_out_is_retried_when_the_dead_rows_have_doubled() {
        table.locked = true;
        assertThat(vacuumsAfter(150_000)).isOne();
        assertThat(vacuumsAfter(100_000)).isZero();
        table.locked = false;
        assertThat(vacuumsAfter(100_000)).isOne();
        assertThat(table.dead).isZero();
    }

    /** A store that records its calls. One step fails the given number of times. */
    private static class RecordingMaintenanceStore implements MaintenanceStore {
        static final List<String> STEPS = List.of(
                "ensurePartitions",
                "reservePages",
                "summarizeHistory",
                "dropHistory",
                "dropEvents",
                "purge",
                "maintainStats");

        private final Map<String, String> calls = new ConcurrentHashMap<>();
        private final Map<String, Semaphore> done = new ConcurrentHashMap<>();
        private final String faulty;
        private final Throwable failure;
        private int left;

        RecordingMaintenanceStore(String faulty, Throwable failure, int times) {
            this.faulty = faulty;
            this.failure = failure;
            this.left = times;
            STEPS.forEach(step -> done.put(step, new Semaphore(0)));
        }

        @Override
        public int ensurePartitions(int daysAhead) {
            return step("ensurePartitions", String.valueOf(daysAhead));
        }

        @Override
        public int maintainStats(Duration minutes, Duration hours) {
            return step("maintainStats", minutes + " " + hours);
        }

        @Override
        public boolean reservePages() {
            return step("reservePages", "") > 0;
        }

        @Override
        public TableStats tableStats() {
            return new TableStats(0, 0);
        }

        @Override
        public void vacuumRuns() {
            throw new AssertionError("vacuum without ended runs");
        }

        @Override
        public int dropEvents(Duration retention) {
            return step("dropEvents", retention.toString());
        }

        @Override
        public int summarizeHistory(int daysBefore) {
            return step("summarizeHistory", String.valueOf(daysBefore));
        }

        @Override
        public int dropHistory(Duration retention) {
            return step("dropHistory", retention.toString());
        }

        @Override
        public int purge(Duration deadRuns, Duration deadNodes) {
            return step("purge", deadRuns + " " + deadNodes);
        }

        /** Called only by the maintenance thread. */
        private int step(String name, String arguments) {
            calls.put(name, arguments);
            if (name.equals(faulty) && left-- > 0) throw LoopTest.<RuntimeException>sneaky(failure);
            done.get(name).release();
            return 1;
        }

        void awaitDone(String step, int times) throws InterruptedException {
            assertThat(done.get(step).tryAcquire(times, 20, TimeUnit.SECONDS))
                    .as("%s after %s", step, calls)
                    .isTrue();
        }
    }
}
