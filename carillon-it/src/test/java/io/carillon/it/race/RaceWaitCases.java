package io.carillon.it.race;

import static io.carillon.it.race.RaceFixture.CONTESTED;
import static io.carillon.it.race.RaceFixture.PROJECT;
import static io.carillon.it.race.RaceSetup.*;

import io.carillon.internal.store.run.BulkAction;
import io.carillon.internal.store.run.RunWaitStore.Resolution;
import io.carillon.internal.store.run.WorkflowSignalStore.NewSignal;
import io.carillon.internal.store.run.WorkflowStepStore.Holder;
import io.carillon.internal.store.run.WorkflowStepStore.NewAnswer;
import io.carillon.internal.store.run.WorkflowStepStore.NewStep;
import io.carillon.internal.store.run.WorkflowStepStore.StepRecord;
import io.carillon.it.race.RaceAnswer.ExplicitAnswer;
import io.carillon.it.race.RaceCase.Skip;
import io.carillon.it.race.RaceCase.StatementCall;
import io.carillon.run.RunState;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * How each writing statement about runs that wait for other runs, and about workflows, is sent in a race; see {@link
 * RaceCases}.
 */
final class RaceWaitCases extends RaceCaseList {
    RaceWaitCases() {
        StatementCall resolve = (fixture, through, sender) -> {
            Resolution answer = through.runWaits().resolve(RaceFixture.keys(sender));
            Set<String> done = texts(answer.lanes());
            done.addAll(texts(answer.cancelled()));
            return new ExplicitAnswer(done, !answer.busy().isEmpty());
        };
        skipping(Skip.ROW, "RunWaitRepository.RESOLVE", resolve, WAIT_OVER, WAIT_FAILED);
        skipping(Skip.PART, "RunWaitRepository.CANCEL", resolve, WAIT_FAILED);
        add(
                "RunAdminRepository.CANCEL_WAITING",
                (fixture, through, sender) ->
                        through.runAdmin().cancel(PROJECT, CONTESTED, "by " + (sender.first() ? "ann" : "bob")),
                WAIT_OVER,
                WAIT_FAILED);
        // Both callers are the node that holds the run: it repeats a call whose answer it did not get.
        add(
                "WorkflowStepRepository.RECORD",
                (fixture, through, sender) -> through.workflowSteps()
                        .record(
                                new Holder(PROJECT, CONTESTED, RaceFixture.OWNER, 1),
                                new NewStep(0, "charge", RaceFixture.bytes("1"), null, null))
                        .map(StepRecord::path),
                CLAIMED,
                CANCEL_ORDERED,
                PARKED,
                ORPHANED,
                LEASE_EXPIRED,
                LIMITED_CLAIMED,
                GATE_TAKEN);
        add(
                "WorkflowStepRepository.RECORD_ALL",
                (fixture, through, sender) -> through
                        .workflowSteps()
                        .recordAll(
                                new Holder(PROJECT, CONTESTED, RaceFixture.OWNER, 1),
                                List.of(
                                        new NewStep(1, "pick[a]", RaceFixture.bytes("1"), null, null),
                                        new NewStep(2, "pick[b]", null, "empty", null)))
                        .stream()
                        .map(StepRecord::path)
                        .toList(),
                CLAIMED,
                CANCEL_ORDERED,
                PARKED,
                ORPHANED);
        add(
                "WorkflowStepRepository.ANSWER",
                (fixture, through, sender) -> through.workflowSteps()
                        .answer(
                                new Holder(PROJECT, CONTESTED, RaceFixture.OWNER, 1),
                                new NewAnswer(1, "approval", "approval"))
                        .map(StepRecord::path),
                SIGNAL_SENT);
        add(
                "WorkflowStepRepository.ANSWER_RUN",
                (fixture, through, sender) -> through.workflowSteps()
                        .answerRun(new Holder(PROJECT, CONTESTED, RaceFixture.OWNER, 1), 1, "run", RaceFixture.AWAITED)
                        .map(StepRecord::path),
                RUN_AWAITED);
        add(
                "WorkflowStepRepository.RECORD_RUN_WAIT",
                (fixture, through, sender) -> through.workflowSteps()
                        .recordRunWait(
                                new Holder(PROJECT, CONTESTED, RaceFixture.OWNER, 1),
                                RaceFixture.runWait(0),
                                RaceFixture.AWAITED)
                        .map(StepRecord::path),
                CLAIMED,
                CANCEL_ORDERED);
        // The node that ended the awaited run, or a scan, looks while the workflow records the answer.
        skipping(Skip.ROW, "RunWaitRepository.RESOLVE", resolve, RUN_AWAITED);
        StatementCall send = (fixture, through, sender) -> through.workflowSignals()
                .send(
                        new NewSignal(
                                PROJECT,
                                CONTESTED,
                                RaceFixture.id(sender.first() ? 82 : 83),
                                "mail-77",
                                "approval",
                                RaceFixture.bytes("2")),
                        false);
        add("WorkflowSignalRepository.SEND", send, SIGNAL_SENT, SIGNAL_PARKED);
        skipping(
                Skip.ROW,
                "WorkflowSignalRepository.WAKE",
                (fixture, through, sender) -> {
                    Resolution answer = through.workflowSignals().wake(RaceFixture.keys(sender));
                    return new ExplicitAnswer(
                            texts(answer.lanes()), !answer.busy().isEmpty());
                },
                SIGNAL_PARKED);
        add(
                "RunAdminRepository.CANCEL_WAITING",
                (fixture, through, sender) ->
                        through.runAdmin().cancel(PROJECT, CONTESTED, "by " + (sender.first() ? "ann" : "bob")),
                SIGNAL_PARKED);
        skipping(
                Skip.PART,
                "MaintenanceRepository.PURGE_WORKFLOW_SIGNALS",
                (fixture, through, sender) -> through.maintenance().purge(Duration.ZERO, Duration.ZERO),
                LEFTOVERS);
        skipping(
                Skip.PART,
                "EndedSteps.MOVE",
                (fixture, through, sender) -> through.maintenance().purge(Duration.ZERO, Duration.ZERO),
                LEFTOVERS);
        // Not with WAIT_FAILED: if both cancel, each run has the reason of the one that locked it first.
        add("BulkRunActions.CANCEL_MANY", RaceCases.bulk(RunState.WAITING, new BulkAction.Cancel("all")), WAIT_OVER);
    }
}
