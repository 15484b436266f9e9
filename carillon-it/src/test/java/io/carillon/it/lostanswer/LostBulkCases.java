package io.carillon.it.lostanswer;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Transition;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.BulkAction;
import io.carillon.internal.store.run.BulkChunk;
import io.carillon.internal.store.run.BulkCursor;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

/** For each statement that changes many runs: a call that sends it, and a check that it took effect once. */
final class LostBulkCases extends LostCases {
    LostBulkCases(PostgresStoreFixture fixture, Storage through) {
        super(fixture, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.of(
                "RunAdminRepository.RESCHEDULE",
                        () -> {
                            RunId run = enqueue(RunSpec.mail(), 1).get(0);
                            Instant due = StoreFixture.NOON.plus(Duration.ofDays(1));
                            return LostAnswer.of(
                                    () -> faultyStorage.runAdmin().reschedule(PROJECT, run, due), moved -> {
                                        assertThat(moved).isEqualTo(true);
                                        assertThat(storage()
                                                        .runAdmin()
                                                        .get(PROJECT, run)
                                                        .orElseThrow()
                                                        .instants()
                                                        .dueAt())
                                                .isEqualTo(due);
                                    });
                        },
                "BulkRunActions.CANCEL_MANY",
                        () -> {
                            enqueue(RunSpec.mail(), 3);
                            return bulk(RunState.WAITING, new BulkAction.Cancel("enough"), RunState.CANCELLED);
                        },
                "BulkRunActions.CANCEL_MANY_RUNNING",
                        () -> {
                            enqueue(RunSpec.mail(), 3);
                            claim(node(), 3);
                            return bulk(RunState.RUNNING, new BulkAction.Cancel("enough"), RunState.RUNNING);
                        },
                "BulkRunActions.REDRIVE_MANY",
                        () -> {
                            die();
                            return bulk(RunState.DEAD, new BulkAction.Redrive(), RunState.WAITING);
                        },
                "BulkRunActions.DELETE_MANY",
                        () -> {
                            die();
                            return bulk(RunState.DEAD, new BulkAction.Delete(), RunState.DEAD);
                        });
    }

    private void die() {
        enqueue(RunSpec.mail(), 3);
        UUID node = node();
        claim(node, 3).forEach(attempt -> apply(node, attempt, new Transition.MarkDead("no")));
    }

    /** The first call, whose answer is lost, changes all runs; the second finds none left. */
    private LostAnswer bulk(RunState state, BulkAction operation, RunState after) {
        RunFilter filter = RunFilter.all().state(state);
        BulkCursor cursor = storage().runAdmin().beginBulk(PROJECT, state == RunState.DEAD);
        return LostAnswer.of(() -> faultyStorage.runAdmin().bulk(PROJECT, filter, operation, cursor), answer -> {
            assertThat(answer)
                    .isInstanceOfSatisfying(
                            BulkChunk.class, chunk -> assertThat(chunk.done()).isZero());
            assertThat(storage().runAdmin().list(PROJECT, RunFilter.all().state(after)))
                    .hasSize(3);
        });
    }
}
