package io.carillon.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class FireBoardTest {
    private static final Instant FIRST = Instant.parse("2026-06-01T12:00:00Z");
    private static final long MILLI = 1_000_000;

    private final FireBoard board = new FireBoard(FIRST, MILLI, 4);

    @Test
    void counts_what_did_not_fire_and_what_fired_twice() {
        fire(0, 1);
        fire(1, 1);
        fire(1, 9);
        fire(3, 1);

        assertThat(board.missing(0, 4)).isEqualTo(1);
        assertThat(board.missing(0, 2)).isZero();
        assertThat(board.twice(0, 4)).isEqualTo(1);
        assertThat(board.twice(2, 4)).isZero();
    }

    @Test
    void knows_how_late_each_was_at_its_first_start() {
        fire(0, 2);
        fire(1, 7);
        fire(1, 90);

        assertThat(board.lateMillis(0, 2).most()).isEqualTo(7);
        assertThat(board.lateMillis(0, 2).least()).isEqualTo(2);
    }

    @Test
    void instants_outside_the_grid_do_not_count() {
        fire(-1, 1);
        fire(4, 1);

        assertThat(board.missing(0, 4)).isEqualTo(4);
    }

    @Test
    void a_part_in_which_nothing_fired_is_infinitely_late() {
        assertThat(board.lateMillis(0, 4).percentile(50)).isInfinite();
    }

    private void fire(int slot, long lateMillis) {
        Instant planned = FIRST.plusNanos(slot * MILLI);
        board.fired(planned, ServerTime.nanos(planned) + lateMillis * MILLI);
    }
}
