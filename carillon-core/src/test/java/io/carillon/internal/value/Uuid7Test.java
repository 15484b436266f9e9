package io.carillon.internal.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class Uuid7Test {
    private static final int THREADS = 8;
    private static final int EACH = 20_000;

    @Test
    void carries_version_variant_and_the_time() {
        long before = WallClock.millis();
        UUID id = Uuid7.next();

        assertThat(id.version()).isEqualTo(7);
        assertThat(id.variant()).isEqualTo(2);
        // Bursts use the time of later milliseconds, hence the higher upper bound.
        assertThat(id.getMostSignificantBits() >>> 16).isBetween(before, before + 60_000);
    }

    @Test
    void only_grows_within_a_thread_and_never_repeats_between_threads() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            Callable<List<UUID>> burst = () -> {
                List<UUID> mine = new ArrayList<>(EACH);
                for (int i = 0; i < EACH; i++) mine.add(Uuid7.next());
                return mine;
            };
            Set<Long> stamps = new HashSet<>();

            for (Future<List<UUID>> one : threads.invokeAll(java.util.Collections.nCopies(THREADS, burst))) {
                List<UUID> mine = one.get();
                for (int i = 1; i < mine.size(); i++) assertThat(mine.get(i)).isGreaterThan(mine.get(i - 1));
                mine.forEach(id -> stamps.add(id.getMostSignificantBits()));
            }

            // Time and counter alone are unique within a process, without the random bits.
            assertThat(stamps).hasSize(THREADS * EACH);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void a_sequence_follows_the_database_and_not_this_machine() {
        DatabaseClock clock = new DatabaseClock();
        Uuid7.Sequence ids = new Uuid7.Sequence(clock);
        assertThat(clock.isStale()).isTrue();
        Instant far = Instant.parse("2031-05-01T12:00:00Z");
        clock.observe(far, System.nanoTime());
        assertThat(clock.isStale()).isFalse();
        assertThat(clock.now()).isBetween(far, far.plusSeconds(5));

        UUID first = ids.next();
        UUID second = ids.next();

        assertThat(second).isGreaterThan(first);
        assertThat(millis(first)).isBetween(far.toEpochMilli(), far.toEpochMilli() + 5_000);
        // If the clock goes back by less than a second, ids continue to grow; if it goes back further, ids follow it.
        clock.observe(far.minusMillis(500), System.nanoTime());
        assertThat(ids.next()).isGreaterThan(second);
        Instant back = far.minusSeconds(3_600);
        clock.observe(back, System.nanoTime());
        assertThat(millis(ids.next())).isBetween(back.toEpochMilli(), back.toEpochMilli() + 5_000);
    }

    @Test
    void an_id_of_a_given_time_carries_it() {
        Instant time = Instant.parse("2031-05-01T12:00:00.123Z");

        UUID id = Uuid7.at(time);

        assertThat(id.version()).isEqualTo(7);
        assertThat(id.variant()).isEqualTo(2);
        assertThat(millis(id)).isEqualTo(time.toEpochMilli());
    }

    private static long millis(UUID id) {
        return id.getMostSignificantBits() >>> 16;
    }

    @Test
    void grows_from_one_thread_to_the_next() throws Exception {
        UUID last = Uuid7.next();
        for (int i = 0; i < 200; i++) {
            UUID[] next = new UUID[1];
            Thread thread = new Thread(() -> next[0] = Uuid7.next());
            thread.start();
            thread.join();
            assertThat(next[0]).isGreaterThan(last);
            last = next[0];
        }
    }
}
