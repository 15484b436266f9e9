package io.carillon.it.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Transition;
import io.carillon.internal.store.node.ProgressUpdate;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.run.Progress;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Maintenance: removal of old history, dead runs and dead nodes, and creation of partitions. */
abstract class MaintenanceContract extends StoreContract {
    private static final Duration DAY = Duration.ofDays(1);

    private RunId succeed() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        apply(node, claimOne(node), complete());
        return id;
    }

    @Test
    void history_older_than_the_retention_is_dropped_and_newer_history_is_kept() {
        RunId old = succeed();
        advance(DAY.multipliedBy(10));
        RunId young = succeed();
        advance(DAY.multipliedBy(5));

        assertThat(storage().maintenance().dropHistory(DAY.multipliedBy(14))).isPositive();

        assertThat(storage().runAdmin().get(PROJECT, old)).isEmpty();
        assertThat(storage().runAdmin().get(PROJECT, young)).isPresent();
        assertThat(storage().maintenance().dropHistory(DAY.multipliedBy(14))).isZero();
    }

    @Test
    void partitions_of_the_days_ahead_are_created_once() {
        advance(DAY.multipliedBy(100));

        assertThat(storage().maintenance().ensurePartitions(4)).isPositive();
        assertThat(storage().maintenance().ensurePartitions(4)).isZero();
    }

    @Test
    void dead_runs_are_removed_after_their_retention() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        apply(node, claimOne(node), new Transition.MarkDead("no"));
        advance(DAY.multipliedBy(30));
        purge();
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all())).containsExactly(id);

        advance(Duration.ofMillis(1));

        assertThat(purge()).isPositive();
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all())).isEmpty();
    }

    private int purge() {
        return storage().maintenance().purge(DAY.multipliedBy(30), Duration.ofHours(1));
    }

    @Test
    void dead_nodes_are_removed_after_their_second_rescue_and_not_before() {
        UUID dead = node();
        UUID alive = node();
        storage().nodes().retire(dead);
        storage().nodes().rescue(3);
        advance(Duration.ofHours(2));
        assertThat(purge()).isZero();

        storage().nodes().rescue(3);

        assertThat(purge()).isEqualTo(1);
        assertThat(storage().nodes().recordHeartbeat(alive, 0, List.of()).alive())
                .isTrue();
        assertThat(storage().nodes().recordHeartbeat(dead, 0, List.of()).alive())
                .isFalse();
    }

    @Test
    void a_node_rescued_exactly_a_minute_after_its_death_is_removed_too() {
        UUID dead = node();
        storage().nodes().retire(dead);
        storage().nodes().rescue(3);
        advance(Duration.ofMinutes(1));
        storage().nodes().rescue(3);
        advance(DAY);

        assertThat(purge()).isEqualTo(1);
    }

    @Test
    void cancel_requests_and_progress_of_ended_runs_are_removed_and_of_running_runs_are_kept() {
        RunId ended = enqueue(RunSpec.mail());
        UUID node = node();
        var attempt = claimOne(node);
        reportProgress(node, ended);
        storage().runAdmin().cancel(PROJECT, ended, "enough");
        apply(node, attempt, complete());
        RunId running = enqueue(RunSpec.mail());
        claimOne(node);
        reportProgress(node, running);
        storage().runAdmin().cancel(PROJECT, running, "enough");

        assertThat(purge()).isEqualTo(2);

        assertThat(get(running).details().progress()).isEqualTo(new Progress(1, 2));
        assertThat(storage().nodes().recordHeartbeat(node, 1, List.of()).cancelRequests())
                .hasSize(1);
    }

    private void reportProgress(UUID node, RunId run) {
        storage().nodes().recordHeartbeat(node, 1, List.of(new ProgressUpdate(PROJECT, run, 1, new Progress(1, 2))));
    }
}
