package io.carillon.it.lostanswer;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.NewRun;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.RunWaitStore.RunKey;
import io.carillon.internal.store.run.WorkflowStepStore.Holder;
import io.carillon.internal.store.run.WorkflowStepStore.NewStep;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.run.Enqueue.Then;
import io.carillon.run.EnqueueResult;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** For each writing statement about runs that wait for other runs: a call that sends it, and a check. */
final class LostWaitCases extends LostCases {
    LostWaitCases(PostgresStoreFixture fixture, Storage through) {
        super(fixture, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.of(
                "WaitingRunInsert.INSERT_WAITING", this::insert,
                "RunWaitRepository.RESOLVE", this::release,
                "RunWaitRepository.CANCEL", this::cancel,
                "WorkflowStepRepository.RECORD", this::record,
                "EndedSteps.MOVE", this::move);
    }

    private LostAnswer insert() {
        NewRun run =
                RunSpec.mail().afterRuns(Then.WAIT, enqueue(RunSpec.mail())).run();
        return LostAnswer.of(() -> faultyStorage.newRuns().enqueue(List.of(run)), answer -> {
            assertThat(answer).isEqualTo(List.of(new EnqueueResult.Enqueued(run.id())));
            assertThat(fixture.query("SELECT count(*) FROM carillon.run_wait").number())
                    .isOne();
        });
    }

    private LostAnswer release() {
        RunId waiting = enqueue(RunSpec.mail().afterRuns(Then.RUN_ANYWAY, RunId.generate()));
        return LostAnswer.of(
                () -> faultyStorage.runWaits().resolve(List.of(new RunKey(PROJECT, waiting))),
                answer -> assertThat(claimOne(node()).run()).isEqualTo(waiting));
    }

    private LostAnswer record() {
        ClaimedAttempt held = claimNewRun();
        Holder holder =
                new Holder(PROJECT, held.run(), held.node(), held.attempt().number());
        NewStep step = new NewStep(0, "charge", bytes("7"), null, null);
        return LostAnswer.of(() -> faultyStorage.workflowSteps().record(holder, step), answer -> {
            assertThat(answer)
                    .isEqualTo(Optional.of(storage()
                            .workflowSteps()
                            .load(PROJECT, held.run())
                            .steps()
                            .get(0)));
            assertThat(storage().workflowSteps().load(PROJECT, held.run()).steps())
                    .hasSize(1);
        });
    }

    private LostAnswer move() {
        ClaimedAttempt held = claimNewRun();
        Holder holder =
                new Holder(PROJECT, held.run(), held.node(), held.attempt().number());
        storage().workflowSteps().record(holder, new NewStep(0, "charge", bytes("7"), null, null));
        apply(held.node(), held.attempt(), complete());
        return LostAnswer.of(
                () -> faultyStorage.maintenance().purge(Duration.ofDays(30), Duration.ofHours(1)), answer -> {
                    assertThat(fixture.query("SELECT path FROM carillon.workflow_step")
                                    .texts())
                            .isEmpty();
                    assertThat(fixture.query("SELECT path FROM carillon.workflow_step_history")
                                    .texts())
                            .containsExactly("charge");
                });
    }

    private LostAnswer cancel() {
        RunId waiting = enqueue(RunSpec.mail().afterRuns(Then.CANCEL, RunId.generate()));
        return LostAnswer.of(
                () -> faultyStorage.runWaits().resolve(List.of(new RunKey(PROJECT, waiting))),
                answer -> assertOnce(waiting, RunState.CANCELLED));
    }
}
