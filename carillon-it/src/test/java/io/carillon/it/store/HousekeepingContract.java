package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Progress;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.Transition;
import io.carillon.store.ProgressNote;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What keeps the tables small, and what it must leave alone. */
abstract class HousekeepingContract extends StoreContract {
    private static final Duration DAY = Duration.ofDays(1);

    private RunId succeed() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        apply(node, claimOne(node), complete());
        return id;
    }

    @Test
    void history_older_than_the_retention_goes_and_younger_stays() {
        RunId old = succeed();
        advance(DAY.multipliedBy(10));
        RunId young = succeed();
        advance(DAY.multipliedBy(5));

        assertThat(storage().housekeeping().dropHistory(DAY.multipliedBy(14))).isPositive();

        assertThat(storage().runDesk().get(PROJECT, old)).isEmpty();
        assertThat(storage().runDesk().get(PROJECT, young)).isPresent();
        assertThat(storage().housekeeping().dropHistory(DAY.multipliedBy(14))).isZero();
    }

    @Test
    void the_days_ahead_are_made_once() {
        advance(DAY.multipliedBy(100));

        assertThat(storage().housekeeping().keepPartitions(4)).isPositive();
        assertThat(storage().housekeeping().keepPartitions(4)).isZero();
    }

    @Test
    void dead_runs_go_when_their_time_is_over() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        apply(node, claimOne(node), new Transition.Die("no"));
        advance(DAY.multipliedBy(30));
        purge();
        assertThat(storage().runDesk().dead(PROJECT, RunFilter.all())).containsExactly(id);

        advance(Duration.ofMillis(1));

        assertThat(purge()).isPositive();
        assertThat(storage().runDesk().dead(PROJECT, RunFilter.all())).isEmpty();
    }

    private int purge() {
        return storage().housekeeping().purge(DAY.multipliedBy(30), Duration.ofHours(1));
    }

    @Test
    void dead_nodes_go_after_their_second_sweep_and_not_before() {
        UUID dead = node();
        UUID alive = node();
        storage().nodes().retire(dead);
        storage().nodes().sweep(3);
        advance(Duration.ofHours(2));
        assertThat(purge()).isZero();

        storage().nodes().sweep(3);

        assertThat(purge()).isEqualTo(1);
        assertThat(storage().nodes().beat(alive, 0, List.of()).alive()).isTrue();
        assertThat(storage().nodes().beat(dead, 0, List.of()).alive()).isFalse();
    }

    @Test
    void a_node_swept_exactly_a_minute_after_its_death_goes_as_well() {
        UUID dead = node();
        storage().nodes().retire(dead);
        storage().nodes().sweep(3);
        advance(Duration.ofMinutes(1));
        storage().nodes().sweep(3);
        advance(DAY);

        assertThat(purge()).isEqualTo(1);
    }

    @Test
    void leftovers_of_ended_runs_go_and_those_of_running_ones_stay() {
        RunId ended = enqueue(Order.mail());
        UUID node = node();
        var attempt = claimOne(node);
        note(node, ended);
        storage().runDesk().cancel(PROJECT, ended, "enough");
        apply(node, attempt, complete());
        RunId running = enqueue(Order.mail());
        claimOne(node);
        note(node, running);
        storage().runDesk().cancel(PROJECT, running, "enough");

        assertThat(purge()).isEqualTo(2);

        assertThat(get(running).details().progress()).isEqualTo(new Progress(1, 2));
        assertThat(storage().nodes().beat(node, 1, List.of()).cancels()).hasSize(1);
    }

    private void note(UUID node, RunId run) {
        storage().nodes().beat(node, 1, List.of(new ProgressNote(PROJECT, run, 1, new Progress(1, 2))));
    }
}
