package io.carillon.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A quota of runs is checked without counting the runs for each request. */
class LiveRunEstimatesTest {
    private long now = 1_000;
    private long stored;
    private Duration countTime = Duration.ofMillis(1);
    private int counts;

    private final LiveRunEstimates estimates = new LiveRunEstimates(() -> now);

    private long count() {
        counts++;
        now += countTime.toNanos();
        return stored;
    }

    private boolean tryAdd(int more, long most) throws SQLException {
        boolean allowed = estimates.tryAdd("p", more, most, this::count);
        if (allowed) stored += more;
        return allowed;
    }

    private void advance(Duration time) {
        now += time.toNanos();
    }

    @Test
    void counts_once_in_five_seconds_and_adds_in_between() throws SQLException {
        for (int i = 0; i < 100; i++) assertThat(tryAdd(10, 1_000_000)).isTrue();
        assertThat(counts).isEqualTo(1);
        advance(Duration.ofSeconds(5));
        assertThat(tryAdd(1, 1_000_000)).isTrue();

        assertThat(counts).isEqualTo(2);
    }

    @Test
    void a_quota_is_exact_for_one_node() throws SQLException {
        for (int i = 0; i < 10; i++) assertThat(tryAdd(1, 10)).isTrue();

        assertThat(tryAdd(1, 10)).isFalse();
        assertThat(tryAdd(0, 10)).isTrue();
    }

    @Test
    void counts_again_before_it_refuses_because_runs_may_have_ended() throws SQLException {
        assertThat(tryAdd(10, 10)).isTrue();
        advance(Duration.ofMillis(50));
        stored = 9;

        assertThat(tryAdd(1, 10)).isTrue();
        assertThat(counts).isEqualTo(2);
    }

    @Test
    void an_expensive_count_is_not_repeated_for_each_refused_request() throws SQLException {
        countTime = Duration.ofSeconds(1);
        stored = 10;
        for (int i = 0; i < 100; i++) {
            assertThat(tryAdd(1, 10)).isFalse();
            advance(Duration.ofMillis(100));
        }
        assertThat(counts).isEqualTo(1);
        advance(Duration.ofSeconds(40));
        stored = 0;

        assertThat(tryAdd(1, 10)).isTrue();
        assertThat(counts).isEqualTo(2);
    }

    @Test
    void sees_what_other_nodes_added_within_five_seconds() throws SQLException {
        assertThat(tryAdd(1, 10)).isTrue();
        stored = 10;
        advance(Duration.ofSeconds(5));

        assertThat(tryAdd(1, 10)).isFalse();
    }
}
