package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.value.WallClock;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class DatabaseClockTest {
    private static final Instant THEN = Instant.parse("2031-07-01T10:00:00Z");
    private final DatabaseClock clock = new DatabaseClock();

    @Test
    void goes_on_from_what_the_database_said_whatever_this_machine_thinks() {
        clock.observe(THEN);

        assertThat(clock.now()).isBetween(THEN, THEN.plusSeconds(30));
        assertThat(clock.nanosUntil(THEN.plusSeconds(3_600)))
                .isBetween(
                        Duration.ofMinutes(59).toNanos(), Duration.ofMinutes(60).toNanos());
        assertThat(clock.nanosUntil(THEN.minusSeconds(60))).isNegative();
    }

    @Test
    void follows_the_database_back_and_forth() {
        clock.observe(THEN);
        clock.observe(THEN.minusSeconds(3_600));

        assertThat(clock.now()).isBefore(THEN.minusSeconds(3_500));
    }

    @Test
    void never_overflows_for_instants_far_away() {
        clock.observe(THEN);

        assertThat(clock.nanosUntil(Instant.MAX)).isEqualTo(Duration.ofDays(1).toNanos());
        assertThat(clock.nanosUntil(Instant.parse("9999-12-31T23:59:59Z")))
                .isEqualTo(Duration.ofDays(1).toNanos());
        assertThat(clock.nanosUntil(Instant.MIN)).isNegative();
        assertThat(clock.nanosUntil(Instant.EPOCH)).isNegative();
        assertThat(clock.nanosUntil(Instant.parse("1700-01-01T00:00:00Z"))).isNegative();
    }

    @Test
    void reports_how_far_the_machine_is_off_once_it_knows() {
        assertThat(clock.skew()).isZero();

        clock.observe(Instant.ofEpochMilli(WallClock.millis()).minusSeconds(3_600));

        assertThat(clock.skew()).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(61));
    }
}
