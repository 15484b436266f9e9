package io.carillon.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.schedule.OverlapDecider.Decision;
import io.carillon.internal.schedule.OverlapDecider.WaitingRun;
import io.carillon.schedule.OverlapPolicy;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OverlapDeciderTest {
    private static final UUID A = new UUID(0, 1);
    private static final UUID B = new UUID(0, 2);
    private static final UUID C = new UUID(0, 3);

    private static WaitingRun fresh(UUID run) {
        return new WaitingRun(run, true, true);
    }

    private static WaitingRun queued(UUID run) {
        return new WaitingRun(run, false, true);
    }

    private static WaitingRun manual(UUID run) {
        return new WaitingRun(run, true, false);
    }

    @ParameterizedTest
    @EnumSource(OverlapPolicy.class)
    void a_single_run_passes_under_every_policy(OverlapPolicy policy) {
        Decision decision = OverlapDecider.decide(policy, 0, List.of(fresh(A)));

        assertThat(decision.passes()).containsExactly(A);
        assertThat(decision.waits()).isEmpty();
        assertThat(decision.dropped()).isEmpty();
        assertThat(decision.cancelsEarlier()).isFalse();
    }

    @Test
    void skip_drops_the_second_run() {
        assertThat(OverlapDecider.decide(OverlapPolicy.SKIP, 1, List.of(fresh(A)))
                        .dropped())
                .containsOnlyKeys(A);
        assertThat(OverlapDecider.decide(OverlapPolicy.SKIP, 0, List.of(fresh(A), fresh(B))))
                .satisfies(decision -> assertThat(decision.passes()).containsExactly(A))
                .satisfies(decision -> assertThat(decision.dropped()).containsOnlyKeys(B));
    }

    @Test
    void runs_that_waited_before_the_policy_became_skip_keep_waiting() {
        Decision decision = OverlapDecider.decide(OverlapPolicy.SKIP, 1, List.of(queued(A), fresh(B)));

        assertThat(decision.waits()).containsExactly(A);
        assertThat(decision.dropped()).containsOnlyKeys(B);
    }

    @Test
    void queue_one_keeps_the_newest() {
        Decision held = OverlapDecider.decide(OverlapPolicy.QUEUE_ONE, 1, List.of(queued(A), fresh(B), fresh(C)));
        assertThat(held.waits()).containsExactly(C);
        assertThat(held.dropped()).containsOnlyKeys(A, B);

        Decision free = OverlapDecider.decide(OverlapPolicy.QUEUE_ONE, 0, List.of(fresh(A), fresh(B), fresh(C)));
        assertThat(free.passes()).containsExactly(A);
        assertThat(free.waits()).containsExactly(C);
    }

    @Test
    void queue_all_keeps_all_in_order() {
        Decision decision = OverlapDecider.decide(OverlapPolicy.QUEUE_ALL, 0, List.of(fresh(A), fresh(B), fresh(C)));

        assertThat(decision.passes()).containsExactly(A);
        assertThat(decision.waits()).containsExactly(B, C);
    }

    @Test
    void cancel_previous_cancels_once_and_starts_the_newest() {
        assertThat(OverlapDecider.decide(OverlapPolicy.CANCEL_PREVIOUS, 1, List.of(fresh(A)))
                        .cancelsEarlier())
                .isTrue();
        assertThat(OverlapDecider.decide(OverlapPolicy.CANCEL_PREVIOUS, 1, List.of(queued(A)))
                        .cancelsEarlier())
                .isFalse();
        Decision free = OverlapDecider.decide(OverlapPolicy.CANCEL_PREVIOUS, 0, List.of(queued(A), fresh(B)));
        assertThat(free.passes()).containsExactly(B);
        assertThat(free.dropped()).containsOnlyKeys(A);
    }

    @ParameterizedTest
    @EnumSource(OverlapPolicy.class)
    void a_manual_run_is_never_dropped_and_cancels_no_other_run(OverlapPolicy policy) {
        Decision decision = OverlapDecider.decide(policy, 1, List.of(manual(A), manual(B)));

        assertThat(decision.dropped()).isEmpty();
        assertThat(decision.cancelsEarlier()).isFalse();
    }
}
