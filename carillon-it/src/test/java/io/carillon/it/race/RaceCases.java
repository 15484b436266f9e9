package io.carillon.it.race;

import static io.carillon.it.race.RaceFixture.CONTESTED;
import static io.carillon.it.race.RaceFixture.MINUTE;
import static io.carillon.it.race.RaceFixture.OTHER;
import static io.carillon.it.race.RaceFixture.OWNER;
import static io.carillon.it.race.RaceFixture.PROJECT;
import static io.carillon.it.race.RaceFixture.SECOND;
import static io.carillon.it.race.RaceFixture.TEN;
import static io.carillon.it.race.RaceSetup.*;

import io.carillon.QueueLimits;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.node.HeartbeatResult;
import io.carillon.internal.store.node.ProgressUpdate;
import io.carillon.internal.store.run.BulkAction;
import io.carillon.internal.store.run.BulkChunk;
import io.carillon.internal.store.run.BulkCursor;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.LaneOutcomes;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.it.race.RaceAnswer.ExplicitAnswer;
import io.carillon.it.race.RaceCase.Sender;
import io.carillon.it.race.RaceCase.Skip;
import io.carillon.it.race.RaceCase.StatementCall;
import io.carillon.run.Enqueue;
import io.carillon.run.Progress;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * How each writing statement about runs, nodes and lanes is sent in a race. A new statement needs one line here (or in
 * {@link RaceScheduleCases}): its constant, the call that sends it for the contested row, and the setups in which it
 * can meet others. Use {@link #add} for statements whose first answer must be complete, {@link #skipping} for
 * statements that may skip a locked row and whose answer makes their caller repeat the call, and
 * {@link #skippingSilently} for statements that do not report skipped rows because a later call does the rest. The call
 * gets a {@link Sender}, which decides whether only the contested row is meant or the bystanders too, and which of the
 * two new ids to use. If no setup fits, add one to {@link RaceSetup}: it prepares the three runs (or two schedules) of
 * {@link RaceFixture}.
 */
final class RaceCases extends RaceCaseList {
    private static final RaceSetup[] HELD = {
        CLAIMED, CANCEL_ORDERED, PARKED, ORPHANED, LEASE_EXPIRED, LIMITED_CLAIMED, GATE_TAKEN
    };

    static final StatementCall PARK = (stage, through, sender) -> {
        Set<String> parked = texts(through.runs().markLongRunning(OWNER, stage.attempts(sender)));
        return new ExplicitAnswer(parked, parked.size() < stage.attempts(sender).size());
    };

    RaceCases() {
        endings();
        claims();
        nodes();
        lanes();
        runAdmin();
        newRuns();
        purges();
        stats();
        addAll(new RaceScheduleCases().all());
        addAll(new RaceEventCases().all());
        addAll(new RaceWaitCases().all());
        addAll(new RaceRelayCases().all());
    }

    private void endings() {
        ending("AttemptEndings.SUCCEED_IN_PLACE", new Transition.Complete(null));
        ending("AttemptEndings.SUCCEED", new Transition.Complete(RaceFixture.bytes("\"sent\"")));
        ending("AttemptEndings.RETRY", new Transition.Retry(SECOND, "oops", false));
        ending("AttemptEndings.WAIT", new Transition.Snooze(SECOND, true));
        ending("AttemptEndings.DIE", new Transition.MarkDead("no"));
        ending("AttemptEndings.CANCEL", new Transition.Cancel("enough"));
        ending("AttemptEndings.AWAIT", new Transition.AwaitCallback(MINUTE, "digest", TEN));
        add("AttemptEndings.SUCCEED", (fixture, through, sender) -> complete(through, null), AWAITING);
        add("AttemptEndings.RETRY", (fixture, through, sender) -> complete(through, "refused"), AWAITING);
        add("AttemptEndings.DIE", (fixture, through, sender) -> complete(through, "refused"), AWAITING_EXPIRED);
        add("AttemptEndings.SUCCEED", (fixture, through, sender) -> complete(through, null), AWAITING_EXPIRED);
    }

    private void ending(String statement, Transition transition) {
        add(statement, (fixture, through, sender) -> ended(through, OWNER, fixture.ended(sender, transition)), HELD);
        add(
                statement,
                (fixture, through, sender) -> ended(through, OTHER, fixture.ended(sender, transition)),
                ISOLATED_DIED_ALONE);
    }

    /** Writes endings as the executor does: it sends endings again whose rows stayed locked. */
    static List<WriteResult> ended(Storage through, UUID owner, List<EndedAttempt> ended) {
        List<WriteResult> verdicts = new ArrayList<>(through.runs().apply(owner, ended));
        for (int i = 0; i < ended.size(); i++)
            while (verdicts.get(i) == WriteResult.LOCKED)
                verdicts.set(
                        i, through.runs().apply(owner, ended.subList(i, i + 1)).get(0));
        return verdicts;
    }

    private static Object complete(Storage through, String error) {
        return through.runAdmin().complete(PROJECT, CONTESTED, 1, "digest", error);
    }

    private void claims() {
        StatementCall claim = (fixture, through, sender) -> RaceFixture.text(
                through.runs().claim(RaceFixture.request(sender)).attempts());
        skipping(Skip.ANY, "RunRepository.CLAIM", claim, WAITING, CANCEL_DUE, LANE, PAUSED_LANE, LIMITED, RATED, KEYED);
        skipping(Skip.ANY, "RunRepository.CLAIM", claim, UNDO_READY);
        skipping(Skip.ANY, "RunRepository.CLAIM", claim, TICKS, OVERLAP_CANCEL_IDLE);
        StatementCall claimRun = (fixture, through, sender) -> RaceFixture.text(
                through.runs().claim(RaceFixture.requestOfRun(sender)).attempts());
        skipping(Skip.ANY, "RunRepository.CLAIM_RUN", claimRun, WAITING, CANCEL_DUE, LANE, PAUSED_LANE, LIMITED, KEYED);
        for (String statement : List.of("RunRepository.CLAIM_ISOLATED", "RunRepository.RECORD_ISOLATION"))
            skipping(
                    Skip.ANY,
                    statement,
                    (fixture, through, sender) -> RaceFixture.text(
                            through
                                    .runs()
                                    .claimOneIsolated(RaceFixture.newNode(sender), Set.of(RunSpec.HANDLER))
                                    .stream()
                                    .toList()),
                    ISOLATED,
                    ISOLATED_DIED_ALONE);
        add(
                "RunRepository.HAND_BACK",
                (fixture, through, sender) -> through.runs().handBack(OWNER, fixture.attempts(sender)),
                HELD);
        skipping(Skip.ROW, "RunRepository.PARK_RUNNING", PARK, HELD);
        skipping(Skip.ROW, "RunRepository.PARK_RUNNING", PARK, ORPHANED_A_MINUTE_AGO);
        // Only the node itself rewrites its claim records, never concurrently.
        add(
                "RunRepository.REWRITE_CLAIM_RECORDS",
                (fixture, through, sender) -> done(() -> through.runs()
                        .replaceClaimRecords(
                                OWNER, Set.of(sender.first() ? 0L : 1L), sender.first() ? 1 : 2, fixture.held(sender))),
                CLAIMED,
                ORPHANED_A_MINUTE_AGO);
        add(
                "NodeRepository.RENEW_LEASE",
                (fixture, through, sender) -> through.nodes().renewLeases(OWNER, fixture.held(sender), MINUTE),
                LEASE_EXPIRED);
        add(
                "RunRepository.RELEASE_WITHOUT_HANDLER",
                (fixture, through, sender) -> through.runs().passOn(OWNER, fixture.attempts(sender)),
                HELD);
        // The answer covers the released runs; a heartbeat finds the remaining cancel requests.
        skippingSilently(
                "CancelRequests.END_RELEASED",
                (fixture, through, sender) -> through.runs().passOn(OWNER, fixture.attempts(sender)),
                DUE_RESCUE,
                CANCEL_DUE,
                CANCEL_ORDERED);
    }

    private void nodes() {
        StatementCall heartbeat = (fixture, through, sender) -> {
            HeartbeatResult answer = through.nodes().recordHeartbeat(OWNER, 1, notes(sender));
            return "alive=" + answer.alive() + " cancels=" + answer.cancelRequests();
        };
        // Each heartbeat reports the progress of all attempts that its node holds.
        skippingSilently("NodeRepository.PROGRESS", heartbeat, heartbeat, CLAIMED, PARKED);
        add("NodeRepository.HEARTBEAT", heartbeat, EMPTY, ORPHANED, CLAIMED);
        add(
                "NodeRepository.DECLARE_DEAD",
                (fixture, through, sender) -> through.nodes().declareDead(OWNER, 0, "silent"),
                EMPTY,
                CLAIMED);
        add(
                "NodeRepository.RETIRE",
                (fixture, through, sender) -> done(() -> through.nodes().retire(OWNER)),
                EMPTY,
                CLAIMED,
                ORPHANED);
        add(
                "NodeRepository.REGISTER",
                (fixture, through, sender) -> done(() ->
                        through.nodes().register(RaceFixture.info(sender.first() ? OWNER : OTHER, RunSpec.HANDLER))),
                EMPTY,
                LEFTOVERS);
        StatementCall wake =
                (fixture, through, sender) -> done(() -> through.nodes().wakeParkedRuns(Set.of(RunSpec.HANDLER)));
        // A process without a node unparks the runs of its handlers at each call.
        skippingSilently("NodeRepository.UNPARK", wake, wake, NO_HANDLER);
        // A heartbeat finds parked runs whose handler a node has.
        skippingSilently(
                "NodeRepository.UNPARK_ALL",
                (fixture, through, sender) -> done(
                        () -> through.nodes().register(RaceFixture.info(RaceFixture.newNode(sender), RunSpec.HANDLER))),
                DUE_RESCUE,
                NO_HANDLER);
        rescuing(Skip.PART, 3, "NodeRepository.PARK_ISOLATED", ISOLATED_WITHOUT_HANDLER);
        // A rescue that skips a run does not mark its dead node as rescued, so the next heartbeat finds the node again.
        rescuing(
                Skip.ROW,
                3,
                "LostLeaseRescuer.RELEASE",
                ORPHANED,
                ORPHANED_A_MINUTE_AGO,
                LEASE_EXPIRED,
                ISOLATED_DIED_ALONE);
        rescuing(Skip.ROW, 1, "LostLeaseRescuer.QUARANTINE", ISOLATED_DIED_ALONE);
        for (String statement : List.of(
                "LostLeaseRescuer.SAVE_DEATH_ANALYSIS",
                "LostLeaseRescuer.DELETE_CLAIM_RECORDS",
                "LostLeaseRescuer.MARK_RESCUED"))
            rescuing(Skip.PART, 3, statement, ORPHANED, ORPHANED_A_MINUTE_AGO, ISOLATED_DIED_ALONE);
        rescuing(Skip.ROW, 3, "AttemptEndings.DIE", AWAITING_EXPIRED);
    }

    private void rescuing(Skip skip, int crashLimit, String statement, RaceSetup... setups) {
        StatementCall rescue = (fixture, through, sender) -> through.nodes().rescue(crashLimit);
        skipping(skip, statement, rescue, dueRescue(crashLimit), setups);
    }

    private static List<ProgressUpdate> notes(Sender sender) {
        List<ProgressUpdate> notes = new ArrayList<>();
        if (sender.batch()) notes.add(new ProgressUpdate(PROJECT, RaceFixture.LEFT, 1, new Progress(3, 9)));
        notes.add(new ProgressUpdate(PROJECT, CONTESTED, 1, new Progress(sender.first() ? 4 : 5, 9)));
        if (sender.batch()) notes.add(new ProgressUpdate(PROJECT, RaceFixture.RIGHT, 1, new Progress(3, 9)));
        return notes;
    }

    private void lanes() {
        RaceSetup[] any = {
            CLAIMED,
            PARKED,
            ORPHANED,
            LEASE_EXPIRED,
            ISOLATED,
            ISOLATED_DIED_ALONE,
            AWAITING,
            AWAITING_EXPIRED,
            NO_HANDLER,
            WAITING,
            LANE,
            PAUSED_LANE,
            LIMITED,
            LIMITED_CLAIMED,
            GATE_TAKEN,
            CANCEL_ORDERED,
            CANCEL_DUE
        };
        StatementCall limit = (fixture, through, sender) ->
                done(() -> through.lanes().limit(RunSpec.MAIL, QueueLimits.maxRunning(sender.first() ? 7 : 8)));
        // The statement waits for no run, and a claim that began before the limit may commit after the count. So claims
        // that see the limit count again.
        skippingSilently("LaneLimits.MARK_RUNNING_AS_LIMITED", limit, RaceCases::count, any);
        add("LaneRepository.LIMIT", limit, LANE, PAUSED_LANE, LIMITED, LIMITED_CLAIMED, BREAKER_OPEN, EMPTY);
        add(
                "LaneRepository.SET_WEIGHT",
                (fixture, through, sender) ->
                        done(() -> through.lanes().setWeight(RunSpec.MAIL, sender.first() ? 3 : 4)),
                LANE,
                PAUSED_LANE,
                LIMITED,
                EMPTY);
        add(
                "LaneRepository.SET_BREAKER",
                (fixture, through, sender) -> done(() -> through.lanes().setBreaker(RunSpec.MAIL, sender.first())),
                LANE,
                PAUSED_LANE,
                LIMITED,
                BREAKER_OPEN,
                BREAKER_PROBED,
                EMPTY);
        add(
                "LaneRepository.PAUSE",
                (fixture, through, sender) -> through.lanes().pause(RunSpec.MAIL, sender.first() ? "ann" : "bob", null),
                LANE,
                PAUSED_LANE,
                LIMITED,
                BREAKER_OPEN,
                EMPTY);
        add(
                "LaneRepository.RESUME",
                (fixture, through, sender) -> through.lanes().resume(RunSpec.MAIL),
                PAUSED_LANE,
                BREAKER_OPEN,
                BREAKER_PROBED);
        StatementCall claim = (fixture, through, sender) -> RaceFixture.text(
                through.lanes().claim(RaceFixture.request(sender)).attempts());
        skipping(Skip.ANY, "LaneLimits.FINISH_RECOUNT", claim, LIMITED);
        skipping(Skip.ANY, "LaneLimits.CLAIM_LIMITED", claim, LIMITED, BREAKER_OPEN);
        StatementCall claimRun = (fixture, through, sender) -> RaceFixture.text(
                through.lanes().claim(RaceFixture.requestOfRun(sender)).attempts());
        skipping(Skip.ANY, "LaneLimits.CLAIM_LIMITED_RUN", claimRun, LIMITED, BREAKER_OPEN);
        skipping(Skip.ANY, "LaneLimits.SAVE_BUCKET", claim, LIMITED);
        skipping(Skip.ANY, "LaneLimits.MARK_PROBE", claim, BREAKER_OPEN);
        StatementCall failed = (fixture, through, sender) -> through.lanes()
                .reportOutcomes(RaceFixture.claimer(sender), List.of(new LaneOutcomes(RunSpec.MAIL, 0, 20, false)));
        for (String statement :
                List.of("LaneBreakers.REPORT", "LaneBreakers.OPEN_BREAKERS", "LaneBreakers.DELETE_REPORTS"))
            add(statement, failed, LANE, PAUSED_LANE, LIMITED, EMPTY);
        StatementCall well = (fixture, through, sender) -> through.lanes()
                .reportOutcomes(RaceFixture.claimer(sender), List.of(new LaneOutcomes(RunSpec.MAIL, 1, 0, true)));
        add("LaneBreakers.DECIDE_PROBES", well, BREAKER_PROBED);
        add("LaneBreakers.DELETE_REPORTS", well, BREAKER_PROBED);
        add("LaneBreakers.REPORT", well, BREAKER_PROBED, LEFTOVERS);
    }

    /** Claims with a node that is not registered: the claim counts running runs and takes none. */
    private static Object count(RaceFixture fixture, Storage through, Sender sender) {
        return through.lanes().claim(RaceFixture.request(NO_NODE, 9)).attempts();
    }

    private void runAdmin() {
        StatementCall cancel = (fixture, through, sender) ->
                through.runAdmin().cancel(PROJECT, CONTESTED, "by " + (sender.first() ? "ann" : "bob"));
        add(
                "RunAdminRepository.CANCEL_WAITING",
                cancel,
                WAITING,
                KEYED,
                CLAIMED,
                CANCEL_DUE,
                ISOLATED,
                ISOLATED_WITHOUT_HANDLER,
                ISOLATED_DIED_ALONE,
                AWAITING,
                AWAITING_EXPIRED,
                NO_HANDLER,
                LIMITED,
                GATED,
                RATED,
                LANE,
                BREAKER_OPEN,
                ORPHANED);
        add("RunAdminRepository.CANCEL_RUNNING", cancel, HELD);
        add("RunAdminRepository.CANCEL_RUNNING", cancel, UNDO_READY, UNDO_PARKED);
        add("RunAdminRepository.CANCEL_WAITING", cancel, UNDO_READY, UNDO_PARKED);
        add("RunAdminRepository.CANCEL_RUNNING", cancel, ISOLATED_DIED_ALONE);
        add(
                "BulkRunActions.CANCEL_MANY",
                bulk(RunState.WAITING, new BulkAction.Cancel("all")),
                WAITING,
                CANCEL_DUE,
                ISOLATED,
                NO_HANDLER,
                LIMITED,
                GATED,
                RATED,
                UNDO_PARKED);
        add(
                "BulkRunActions.CANCEL_MANY_RUNNING",
                bulk(RunState.RUNNING, new BulkAction.Cancel("all")),
                CLAIMED,
                PARKED,
                ORPHANED,
                GATE_TAKEN,
                AWAITING);
        StatementCall reschedule =
                (fixture, through, sender) -> through.runAdmin().reschedule(PROJECT, CONTESTED, due(sender));
        add(
                "RunAdminRepository.RESCHEDULE",
                reschedule,
                WAITING,
                KEYED,
                CANCEL_DUE,
                NO_HANDLER,
                LIMITED,
                CLAIMED,
                BREAKER_OPEN,
                GATED);
        add(
                "RunAdminRepository.RESCHEDULE",
                (fixture, through, sender) -> bulk(through, RunState.WAITING, new BulkAction.Reschedule(due(sender))),
                WAITING,
                CANCEL_DUE,
                LIMITED);
        StatementCall redrive = (fixture, through, sender) -> through.runAdmin().redrive(PROJECT, List.of(CONTESTED));
        add("RunAdminRepository.REDRIVE", redrive, DEAD, DEAD_KEYED);
        add("BulkRunActions.REDRIVE_MANY", bulk(RunState.DEAD, new BulkAction.Redrive()), DEAD);
        add("BulkRunActions.DELETE_MANY", bulk(RunState.DEAD, new BulkAction.Delete()), DEAD, DEAD_KEYED);
    }

    private static java.time.Instant due(Sender sender) {
        return StoreFixture.NOON.plus(Duration.ofHours(sender.first() ? 1 : 2));
    }

    static StatementCall bulk(RunState state, BulkAction operation) {
        return (fixture, through, sender) -> bulk(through, state, operation);
    }

    /** Repeats the bulk action until no run is left, as callers do. */
    private static int bulk(Storage through, RunState state, BulkAction operation) {
        RunAdmin admin = through.runAdmin();
        RunFilter filter = RunFilter.all().state(state);
        int all = 0;
        for (BulkCursor cursor = admin.beginBulk(PROJECT, state == RunState.DEAD); !cursor.isFinished(); ) {
            BulkChunk chunk = admin.bulk(PROJECT, filter, operation, cursor);
            cursor = chunk.next();
            all += chunk.done();
            if (chunk.blocked()) admin.awaitUnlocked(PROJECT, filter, operation, cursor);
        }
        return all;
    }

    private void newRuns() {
        RaceSetup[] keys = {EMPTY, KEYED, DEAD_KEYED};
        RunSpec keyed = RunSpec.mail().key("key");
        enqueuing("NewRunRepository.INSERT", keyed, true, false, keys);
        enqueuing("NewRunRepository.INSERT_AND_NOTIFY", keyed, true, true, keys);
        enqueuing("NewRunRepository.INSERT_ONE", keyed, false, false, keys);
        enqueuing("NewRunRepository.INSERT_ONE_AND_NOTIFY", keyed, false, true, keys);
        enqueuing("GatedRunInsert.INSERT_GATED", keyed.concurrencyKey("shop", 1), false, false, keys);
        enqueuing(
                "GatedRunInsert.INSERT_GATED",
                RunSpec.mail().concurrencyKey("shop", 1),
                false,
                false,
                GATED,
                GATE_TAKEN);
        enqueuing("GatedRunInsert.INSERT_GATED", RunSpec.mail().rateKey("shop", 2, TEN), false, false, RATED);
        enqueuing(
                "WaitingRunInsert.INSERT_WAITING",
                keyed.afterRuns(Enqueue.OnFailure.WAIT, CONTESTED),
                false,
                false,
                keys);
        StatementCall holding = (fixture, through, sender) -> through.newRuns()
                .enqueue(runs(keyed, sender, false).stream()
                        .map(run -> run.withKeyWindow(MINUTE))
                        .toList());
        add("NewRunRepository.HOLD_KEYS", holding, EMPTY, KEYED, DEAD_KEYED, LEFTOVERS);
        add("NewRunRepository.RELEASE_KEYS", holding, KEYED);
    }

    private void enqueuing(String statement, RunSpec spec, boolean several, boolean notify, RaceSetup... setups) {
        add(
                statement,
                (fixture, through, sender) -> through.newRuns().enqueue(runs(spec, sender, several), notify),
                setups);
    }

    /**
     * Returns a run with the contested key, together with bystanders if the sender sends a batch or the statement
     * inserts several runs.
     */
    private static List<NewRun> runs(RunSpec spec, Sender sender, boolean several) {
        List<NewRun> runs = new ArrayList<>();
        if (sender.batch() && !several && spec.gate() == null)
            return List.of(spec.run(RaceFixture.newRunId(sender, 0)));
        if (several || sender.batch())
            runs.add(RunSpec.mail().key(spec.gate() == null ? "before" : null).run(RaceFixture.newRunId(sender, 1)));
        runs.add(spec.run(RaceFixture.newRunId(sender, 0)));
        return runs;
    }

    private void stats() {
        add(
                "StatsRepository.WRITE",
                (fixture, through, sender) ->
                        done(() -> through.stats().write(RaceFixture.stats(sender, sender.first() ? 2 : 3))),
                STATS);
        StatementCall compute =
                (fixture, through, sender) -> done(() -> through.stats().computeHours());
        skippingSilently("StatsRepository.COMPUTE_HOUR", compute, compute, STATS);
        StatementCall remove =
                (fixture, through, sender) -> done(() -> through.stats().removeOlder(Duration.ZERO, Duration.ZERO));
        for (String statement : List.of("REMOVE_MINUTES", "REMOVE_HOURS"))
            skippingSilently("StatsRepository." + statement, remove, remove, STATS);
    }

    private void purges() {
        StatementCall purge =
                (fixture, through, sender) -> through.maintenance().purge(Duration.ZERO, Duration.ZERO);
        for (String table : List.of(
                "ATTEMPT_STATS",
                "CANCEL_REQUESTS",
                "CLAIM_RECORDS",
                "KEY_WINDOWS",
                "NODES",
                "OPEN_ATTEMPTS",
                "PROGRESS",
                "RATE_GATES")) skipping(Skip.PART, "MaintenanceRepository.PURGE_" + table, purge, LEFTOVERS);
        skipping(Skip.PART, "MaintenanceRepository.PURGE_DEAD_RUNS", purge, DEAD, DEAD_KEYED);
        skipping(Skip.PART, "MaintenanceRepository.PURGE_PROGRESS", purge, CLAIMED);
        skipping(Skip.PART, "MaintenanceRepository.PURGE_CANCEL_REQUESTS", purge, CLAIMED, CANCEL_DUE, CANCEL_ORDERED);
        skipping(Skip.PART, "MaintenanceRepository.PURGE_OPEN_ATTEMPTS", purge, CLAIMED, AWAITING);
    }
}
