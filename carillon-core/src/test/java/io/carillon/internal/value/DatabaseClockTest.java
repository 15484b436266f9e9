package io.carillon.internal.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DatabaseClockTest {
    private static final Instant THEN = Instant.parse("2031-07-01T10:00:00Z");
    private final DatabaseClock clock = new DatabaseClock();

    @Test
    void follows_the_database_clock_and_not_the_machine_clock() {
        clock.observe(THEN, System.nanoTime());

        assertThat(clock.now()).isBetween(THEN, THEN.plusSeconds(30));
        assertThat(clock.nanosUntil(THEN.plusSeconds(3_600)))
                .isBetween(
                        Duration.ofMinutes(59).toNanos(), Duration.ofMinutes(60).toNanos());
        assertThat(clock.nanosUntil(THEN.minusSeconds(60))).isNegative();
    }

    @Test
    void uses_the_machine_clock_before_the_first_reading_and_detects_stale_readings() {
        long[] nanos = {0};
        DatabaseClock local = new DatabaseClock(() -> nanos[0]);
        Instant machine = Instant.ofEpochMilli(WallClock.millis());
        assertThat(local.now()).isBetween(machine.minusSeconds(30), machine.plusSeconds(30));
        assertThat(local.isStale()).isTrue();

        local.observe(THEN, 0);

        assertThat(local.isStale()).isFalse();
        nanos[0] = Duration.ofSeconds(11).toNanos();
        assertThat(local.isStale()).isTrue();
        local.observe(THEN.plusSeconds(11), nanos[0]);
        assertThat(local.isStale()).isFalse();
    }

    @Test
    void follows_the_database_back_and_forth() {
        clock.observe(THEN, System.nanoTime());
        clock.observe(THEN.minusSeconds(3_600), System.nanoTime());

        assertThat(clock.now()).isBefore(THEN.minusSeconds(3_500));
    }

    @Test
    void never_overflows_for_instants_far_away() {
        clock.observe(THEN, System.nanoTime());

        assertThat(clock.nanosUntil(Instant.MAX)).isEqualTo(Duration.ofDays(1).toNanos());
        assertThat(clock.nanosUntil(Instant.parse("9999-12-31T23:59:59Z")))
                .isEqualTo(Duration.ofDays(1).toNanos());
        assertThat(clock.nanosUntil(Instant.MIN)).isNegative();
        assertThat(clock.nanosUntil(Instant.EPOCH)).isNegative();
        assertThat(clock.nanosUntil(Instant.parse("1700-01-01T00:00:00Z"))).isNegative();
    }

    @Test
    void reports_the_offset_of_the_system_clock() {
        assertThat(clock.skew()).isZero();

        clock.observe(Instant.ofEpochMilli(WallClock.millis()).minusSeconds(3_600), System.nanoTime());

        assertThat(clock.skew()).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(61));
    }

    @Test
    void a_slow_answer_changes_nothing_and_a_fast_one_narrows_the_bounds() {
        long[] nanos = {0};
        DatabaseClock local = new DatabaseClock(() -> nanos[0]);
        local.observe(THEN, -1_000_000);
        nanos[0] = 5_000_000_000L;
        // The statement read the clock when it arrived, and the answer took 3 s.
        local.observe(THEN.plusSeconds(2), 2_000_000_000L);

        assertThat(local.now()).isBetween(THEN.plusMillis(4_999), THEN.plusSeconds(5));
    }

    @Test
    void an_answer_that_was_on_its_way_when_the_clock_was_set_does_not_undo_it() {
        long[] nanos = {0};
        DatabaseClock local = new DatabaseClock(() -> nanos[0]);
        List<String> notified = new ArrayList<>();
        local.onSetBack(() -> notified.add("set back"));
        local.observe(THEN, -1_000_000);
        nanos[0] = 2_000_000_000L;
        local.observe(THEN.minusSeconds(3_600), 1_900_000_000L);
        nanos[0] = 2_100_000_000L;
        local.observe(THEN.plusMillis(1_500), 1_500_000_000L);

        assertThat(local.now()).isBefore(THEN.minusSeconds(3_590));
        assertThat(notified).containsExactly("set back");
    }

    /**
     * Checks, with slow answers, drift and steps in random order, that the estimate never passes the database clock,
     * never goes back because of a slow answer, and follows each step.
     */
    @Test
    void follows_the_database_through_slow_answers_drift_and_steps() {
        long seed = new Random().nextLong();
        System.out.println("seed=" + seed);
        Random random = new Random(seed);
        for (int trial = 0; trial < 200; trial++) {
            long[] nanos = {random.nextLong() / 4};
            DatabaseClock local = new DatabaseClock(() -> nanos[0]);
            double rate = 1 + (random.nextDouble() - 0.5) / 10_000;
            long start = nanos[0];
            Instant base = THEN;
            boolean stepped = true;
            for (int reading = 0; reading < 200; reading++) {
                nanos[0] += random.nextLong(3_000_000_000L);
                if (random.nextInt(20) == 0) {
                    Duration step = Duration.ofSeconds(random.nextInt(7_200) - 3_600);
                    base = base.plus(step);
                    stepped |= step.abs().compareTo(Duration.ofSeconds(31)) > 0;
                    if (!stepped && !step.isZero()) break;
                }
                long sent = nanos[0];
                long took = random.nextInt(10) == 0 ? random.nextLong(15_000_000_000L) : random.nextLong(3_000_000L);
                long read = sent + (long) (took * random.nextDouble());
                Instant said = base.plusNanos((long) ((read - start) * rate));
                nanos[0] = sent + took;
                Instant before = local.now();
                local.observe(said, sent);
                Instant truth = base.plusNanos((long) ((nanos[0] - start) * rate));
                assertThat(local.now()).as("seed %s", seed).isBeforeOrEqualTo(truth.plusNanos(1_000));
                assertThat(local.now()).as("seed %s", seed).isAfterOrEqualTo(truth.minusNanos(took + 1_000));
                if (!stepped) assertThat(local.now()).as("seed %s", seed).isAfterOrEqualTo(before);
                stepped = false;
            }
        }
    }
}
