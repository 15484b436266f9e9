package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.store.BulkDeed;
import io.carillon.store.Storage;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

/** For each statement that changes many runs: a deed that sends it, and the one effect it must have. */
final class LostBulkCases extends LostCases {
    LostBulkCases(PostgresBench bench, Storage through) {
        super(bench, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.of(
                "DeskRepository.RESCHEDULE",
                        () -> {
                            RunId run = enqueue(Order.mail(), 1).get(0);
                            Instant due = StoreBench.NOON.plus(Duration.ofDays(1));
                            return LostAnswer.of(() -> through.runDesk().reschedule(PROJECT, run, due), moved -> {
                                assertThat(moved).isEqualTo(true);
                                assertThat(storage()
                                                .runDesk()
                                                .get(PROJECT, run)
                                                .orElseThrow()
                                                .instants()
                                                .dueAt())
                                        .isEqualTo(due);
                            });
                        },
                "DeskRepository.CANCEL_MANY",
                        () -> {
                            enqueue(Order.mail(), 3);
                            return bulk(RunState.WAITING, new BulkDeed.Cancel("enough"), RunState.CANCELLED);
                        },
                "DeskRepository.CANCEL_MANY_RUNNING",
                        () -> {
                            enqueue(Order.mail(), 3);
                            claim(node(), 3);
                            return bulk(RunState.RUNNING, new BulkDeed.Cancel("enough"), RunState.RUNNING);
                        },
                "DeskRepository.REDRIVE_MANY",
                        () -> {
                            die();
                            return bulk(RunState.DEAD, new BulkDeed.Redrive(), RunState.WAITING);
                        },
                "DeskRepository.DELETE_MANY",
                        () -> {
                            die();
                            return bulk(RunState.DEAD, new BulkDeed.Delete(), RunState.DEAD);
                        });
    }

    private void die() {
        enqueue(Order.mail(), 3);
        UUID node = node();
        claim(node, 3).forEach(attempt -> apply(node, attempt, new Transition.Die("no")));
    }

    /** Done by the first call, whose answer was lost: the second finds nothing left to do. */
    private LostAnswer bulk(RunState state, BulkDeed deed, RunState after) {
        RunFilter filter = RunFilter.all().state(state);
        return LostAnswer.of(() -> through.runDesk().bulk(PROJECT, filter, deed), answer -> {
            assertThat(answer).isEqualTo(0);
            assertThat(storage().runDesk().list(PROJECT, RunFilter.all().state(after)))
                    .hasSize(3);
        });
    }
}
