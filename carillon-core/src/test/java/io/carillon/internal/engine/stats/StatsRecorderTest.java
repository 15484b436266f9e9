package io.carillon.internal.engine.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Stats.RunStats;
import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.store.stats.EndingCounter.Series;
import io.carillon.internal.store.stats.StatsRow;
import io.carillon.internal.store.stats.StatsStore;
import io.carillon.internal.value.DatabaseClock;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the recorder writes. The store keeps the newest row of each key, as the table does. */
class StatsRecorderTest {
    private static final Instant NOON = Instant.parse("2026-03-29T12:00:00Z");

    private final KeepingStore store = new KeepingStore();
    private final DatabaseClock clock = new DatabaseClock();
    private final StatsRecorder recorder = new StatsRecorder(store, clock);

    private static final class KeepingStore implements StatsStore {
        private final Map<StatsRow.Key, StatsRow> rows = new HashMap<>();
        private final Map<StatsRow.Key, StatsRow> sumsOfProjects = new HashMap<>();
        private int written;
        private boolean broken;

        @Override
        public void write(List<StatsRow> some) {
            if (broken) throw new IllegalStateException("the database does not answer");
            for (StatsRow row : some) {
                boolean sum = row.key().queue().isEmpty();
                if (!sum) written++;
                (sum ? sumsOfProjects : rows).merge(row.key(), row, (a, b) -> a.version() < b.version() ? b : a);
            }
            assertThat(total(sumsOfProjects)).isEqualTo(total(rows));
        }

        private static Map<Count, Long> total(Map<StatsRow.Key, StatsRow> of) {
            Map<Count, Long> total = new EnumMap<>(Count.class);
            for (StatsRow row : of.values())
                for (Count what : Count.values()) total.merge(what, row.count(what), Long::sum);
            return total;
        }

        long total(Count what) {
            return rows.values().stream().mapToLong(row -> row.count(what)).sum();
        }

        @Override
        public int computeHours() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int removeOlder(Duration minutes, Duration hours) {
            throw new UnsupportedOperationException();
        }

        @Override
        public RunStats read(String project, RunStats.Query query) {
            throw new UnsupportedOperationException();
        }

        @Override
        public RunStats.Figures recent(Duration period) {
            throw new UnsupportedOperationException();
        }
    }

    private void setClock(Instant instant) {
        clock.observe(instant, System.nanoTime());
    }

    private void count(int number) {
        recorder.count(new Series("default", "mail", "mail"), Count.SUCCEEDED, number);
    }

    @Test
    void a_row_is_written_again_with_all_counts_only_if_they_have_changed() {
        setClock(NOON);
        count(2);
        recorder.write();
        recorder.write();
        assertThat(store.written).isOne();
        count(3);
        recorder.write();

        assertThat(store.written).isEqualTo(2);
        assertThat(store.rows.values()).singleElement().satisfies(row -> {
            assertThat(row.key().minute()).isEqualTo(NOON);
            assertThat(row.count(Count.SUCCEEDED)).isEqualTo(5);
        });
    }

    @Test
    void counts_that_could_not_be_written_are_written_later() {
        setClock(NOON);
        count(2);
        recorder.write();
        count(1);
        store.broken = true;
        assertThatThrownBy(recorder::write).isInstanceOf(IllegalStateException.class);
        setClock(NOON.plusSeconds(600));
        count(4);
        assertThatThrownBy(recorder::write).isInstanceOf(IllegalStateException.class);
        store.broken = false;
        recorder.write();

        assertThat(store.total(Count.SUCCEEDED)).isEqualTo(7);
        assertThat(store.rows).hasSize(2);
    }

    @Test
    void each_minute_has_its_own_row_and_a_clock_that_was_set_back_loses_no_counts() {
        setClock(NOON);
        count(1);
        setClock(NOON.plusSeconds(120));
        count(2);
        recorder.write();
        recorder.write();
        recorder.write();
        setClock(NOON.plusSeconds(1));
        count(4);
        recorder.write();

        assertThat(store.rows).hasSize(3);
        assertThat(store.total(Count.SUCCEEDED)).isEqualTo(7);
        assertThat(store.rows.keySet().stream()
                        .filter(key -> key.minute().equals(NOON))
                        .map(StatsRow.Key::recorder)
                        .distinct())
                .hasSize(2);
    }

    @Test
    void series_beyond_the_limit_are_counted_as_other_of_their_project() {
        setClock(NOON);
        for (int i = 0; i < StatsRecorder.MAX_SERIES + 500; i++)
            recorder.count(new Series("default", "q" + i, "h"), Count.SUCCEEDED, 1);
        recorder.count(new Series("second", "q", "h"), Count.SUCCEEDED, 1);
        recorder.count(new Series("default", "q0", "h"), Count.SUCCEEDED, 1);
        recorder.write();

        Map<String, Long> byProject = store.rows.values().stream()
                .filter(row -> row.key().queue().equals(StatsRecorder.OTHER))
                .collect(Collectors.toMap(row -> row.key().project(), row -> row.count(Count.SUCCEEDED)));
        assertThat(byProject).isEqualTo(Map.of("default", 500L));
        assertThat(store.rows).hasSize(StatsRecorder.MAX_SERIES + 2);
        assertThat(store.total(Count.SUCCEEDED)).isEqualTo(StatsRecorder.MAX_SERIES + 502);
    }

    @Test
    void a_project_with_very_many_series_leaves_names_to_others() {
        setClock(NOON);
        for (int i = 0; i < StatsRecorder.MAX_SERIES + 500; i++)
            recorder.count(new Series("loud", "q" + i, "h"), Count.SUCCEEDED, 1);
        for (int project = 0; project < 100; project++)
            for (int i = 0; i < 50; i++)
                recorder.count(new Series("calm-" + project, "q" + i, "h"), Count.SUCCEEDED, 1);
        recorder.write();

        assertThat(store.rows.keySet())
                .filteredOn(key -> key.queue().equals(StatsRecorder.OTHER))
                .extracting(StatsRow.Key::project)
                .containsExactly("loud");
    }

    @Test
    void a_new_hour_has_new_named_series() {
        setClock(NOON);
        for (int i = 0; i <= StatsRecorder.MAX_SERIES; i++)
            recorder.count(new Series("default", "q" + i, "h"), Count.DEAD, 1);
        setClock(NOON.plusSeconds(3_600));
        recorder.count(new Series("default", "late", "h"), Count.DEAD, 1);
        recorder.write();

        Set<String> queues =
                store.rows.keySet().stream().map(StatsRow.Key::queue).collect(Collectors.toSet());
        assertThat(queues).contains(StatsRecorder.OTHER, "late");
    }

    @Test
    void threads_that_count_while_rows_are_written_lose_nothing() throws InterruptedException {
        int threads = 4;
        int each = 50_000;
        CountDownLatch done = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> {
                for (int n = 0; n < each; n++) count(1);
                done.countDown();
            });
            thread.start();
        }
        while (done.getCount() > 0) recorder.write();
        done.await();
        recorder.write();

        assertThat(store.total(Count.SUCCEEDED)).isEqualTo((long) threads * each);
    }
}
