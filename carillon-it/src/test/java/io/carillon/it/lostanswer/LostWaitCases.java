package io.carillon.it.lostanswer;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.RunWaitStore.RunKey;
import io.carillon.internal.store.run.WorkflowSignalStore.NewSignal;
import io.carillon.internal.store.run.WorkflowSignalStore.Sent;
import io.carillon.internal.store.run.WorkflowStepStore.Holder;
import io.carillon.internal.store.run.WorkflowStepStore.NewAnswer;
import io.carillon.internal.store.run.WorkflowStepStore.NewStep;
import io.carillon.internal.store.run.WorkflowStepStore.StepKind;
import io.carillon.internal.store.run.WorkflowStepStore.StepRecord;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.run.Enqueue.OnFailure;
import io.carillon.run.EnqueueResult;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/** For each writing statement about runs that wait for other runs: a call that sends it, and a check. */
final class LostWaitCases extends LostCases {
    LostWaitCases(PostgresStoreFixture fixture, Storage through) {
        super(fixture, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.ofEntries(
                Map.entry("WaitingRunInsert.INSERT_WAITING", this::insert),
                Map.entry("RunWaitRepository.RESOLVE", this::release),
                Map.entry("RunWaitRepository.CANCEL", this::cancel),
                Map.entry("WorkflowStepRepository.RECORD", this::record),
                Map.entry("WorkflowStepRepository.RECORD_ALL", this::recordAll),
                Map.entry("WorkflowStepRepository.ANSWER", this::answer),
                Map.entry("WorkflowStepRepository.RECORD_RUN_WAIT", this::recordRunWait),
                Map.entry("WorkflowStepRepository.ANSWER_RUN", this::answerRun),
                Map.entry("WorkflowSignalRepository.SEND", this::send),
                Map.entry("WorkflowSignalRepository.WAKE", this::wake),
                Map.entry("EndedSteps.MOVE", this::move));
    }

    /** Claims a run and records that it waits for the signal approval. */
    private ClaimedAttempt awaiting() {
        ClaimedAttempt held = claimNewRun();
        storage()
                .workflowSteps()
                .record(holder(held), new NewStep(StepKind.AWAIT, 0, "approval", null, null, Duration.ofDays(7)));
        return held;
    }

    private static Holder holder(ClaimedAttempt held) {
        return new Holder(PROJECT, held.run(), held.node(), held.attempt().number());
    }

    private static NewSignal signal(RunId run) {
        return new NewSignal(PROJECT, run, UUID.randomUUID(), "mail-77", "approval", bytes("7"));
    }

    private LostAnswer answer() {
        ClaimedAttempt held = awaiting();
        storage().workflowSignals().send(signal(held.run()), false);
        return LostAnswer.of(
                () -> faultyStorage.workflowSteps().answer(holder(held), new NewAnswer(1, "approval", "approval")),
                answer -> {
                    assertThat(answer)
                            .isEqualTo(Optional.of(storage()
                                    .workflowSteps()
                                    .load(PROJECT, held.run())
                                    .steps()
                                    .get(1)));
                    assertThat(fixture.query("SELECT consumed_by FROM carillon.workflow_signal")
                                    .texts())
                            .containsExactly("1");
                });
    }

    private static NewStep runWait(RunId awaited) {
        return new NewStep(StepKind.AWAIT_RUN, 0, awaited.toString(), null, null, null);
    }

    private LostAnswer recordRunWait() {
        ClaimedAttempt held = claimNewRun();
        RunId awaited = enqueue(RunSpec.mail());
        return LostAnswer.of(
                () -> faultyStorage.workflowSteps().recordRunWait(holder(held), runWait(awaited), awaited), answer -> {
                    assertThat(answer)
                            .isEqualTo(Optional.of(storage()
                                    .workflowSteps()
                                    .load(PROJECT, held.run())
                                    .steps()
                                    .get(0)));
                    assertThat(fixture.query("SELECT on_failure FROM carillon.run_wait")
                                    .texts())
                            .containsExactly("wake");
                });
    }

    private LostAnswer answerRun() {
        ClaimedAttempt held = claimNewRun();
        RunId awaited = RunId.generate();
        storage().workflowSteps().recordRunWait(holder(held), runWait(awaited), awaited);
        return LostAnswer.of(
                () -> faultyStorage.workflowSteps().answerRun(holder(held), 1, awaited.toString(), awaited), answer -> {
                    assertThat(answer)
                            .isEqualTo(Optional.of(storage()
                                    .workflowSteps()
                                    .load(PROJECT, held.run())
                                    .steps()
                                    .get(1)));
                    assertThat(fixture.query("SELECT count(*) FROM carillon.run_wait")
                                    .number())
                            .isZero();
                });
    }

    private LostAnswer send() {
        NewSignal signal = signal(enqueue(RunSpec.mail()));
        return LostAnswer.of(() -> faultyStorage.workflowSignals().send(signal, false), answer -> {
            assertThat(answer).isEqualTo(Sent.STORED);
            assertThat(fixture.query("SELECT count(*) FROM carillon.workflow_signal")
                            .number())
                    .isOne();
        });
    }

    private LostAnswer wake() {
        ClaimedAttempt held = awaiting();
        storage().workflowSignals().send(signal(held.run()), false);
        apply(held.node(), held.attempt(), new Transition.Snooze(Duration.ofDays(7)));
        return LostAnswer.of(
                () -> faultyStorage.workflowSignals().wake(List.of(new RunKey(PROJECT, held.run()))),
                answer -> assertThat(claimOne(node()).run()).isEqualTo(held.run()));
    }

    private LostAnswer insert() {
        NewRun run = RunSpec.mail()
                .afterRuns(OnFailure.WAIT, enqueue(RunSpec.mail()))
                .run();
        return LostAnswer.of(() -> faultyStorage.newRuns().enqueue(List.of(run)), answer -> {
            assertThat(answer).isEqualTo(List.of(new EnqueueResult.Enqueued(run.id())));
            assertThat(fixture.query("SELECT count(*) FROM carillon.run_wait").number())
                    .isOne();
        });
    }

    private LostAnswer release() {
        RunId waiting = enqueue(RunSpec.mail().afterRuns(OnFailure.RUN_ANYWAY, RunId.generate()));
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

    private LostAnswer recordAll() {
        ClaimedAttempt held = claimNewRun();
        List<NewStep> steps = List.of(
                new NewStep(2, "pick[b]", bytes("7"), null, null), new NewStep(1, "pick[a]", null, "empty", null));
        return LostAnswer.of(() -> faultyStorage.workflowSteps().recordAll(holder(held), steps), answer -> {
            List<StepRecord> stored =
                    storage().workflowSteps().load(PROJECT, held.run()).steps();
            assertThat(answer).isEqualTo(List.of(stored.get(1), stored.get(0)));
            assertThat(stored).hasSize(2);
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
        RunId waiting = enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, RunId.generate()));
        return LostAnswer.of(
                () -> faultyStorage.runWaits().resolve(List.of(new RunKey(PROJECT, waiting))),
                answer -> assertOnce(waiting, RunState.CANCELLED));
    }
}
