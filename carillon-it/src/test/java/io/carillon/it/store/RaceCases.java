package io.carillon.it.store;

import static io.carillon.it.store.RaceScene.*;
import static io.carillon.it.store.RaceStage.CONTESTED;
import static io.carillon.it.store.RaceStage.MINUTE;
import static io.carillon.it.store.RaceStage.OTHER;
import static io.carillon.it.store.RaceStage.OWNER;
import static io.carillon.it.store.RaceStage.PROJECT;
import static io.carillon.it.store.RaceStage.SECOND;
import static io.carillon.it.store.RaceStage.TEN;

import io.carillon.it.store.RaceAnswer.Told;
import io.carillon.it.store.RaceCase.Deed;
import io.carillon.it.store.RaceCase.Hand;
import io.carillon.it.store.RaceCase.Skip;
import io.carillon.run.Limits;
import io.carillon.run.NewRun;
import io.carillon.run.Progress;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.store.Beat;
import io.carillon.store.BulkDeed;
import io.carillon.store.Ended;
import io.carillon.store.LaneLoad;
import io.carillon.store.ProgressNote;
import io.carillon.store.Storage;
import io.carillon.store.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * How each writing statement about runs, nodes and lanes is sent in a race. A new statement needs one line here (or in {@link RaceScheduleCases}): its
 * constant, the deed that sends it for the contested row, and the scenes in which it can meet others. {@link #add} is for statements whose answer must be
 * right at once; {@link #skipping} for those that may leave out a row that another session works on, and whose answer makes their caller come again;
 * {@link #leaving} for those that say nothing of what they left out, because something that comes by itself makes up for it. The deed gets a
 * {@link Hand}: it says whether only the contested row is meant or its bystanders too, and which of the two new ids to use. If no scene fits, add one to
 * {@link RaceScene}: a few words that prepare the three runs (or two schedules) of {@link RaceStage}.
 */
final class RaceCases extends RaceStatements {
    private static final RaceScene[] HELD = {
        CLAIMED, CANCEL_ORDERED, PARKED, ORPHANED, LEASE_EXPIRED, LIMITED_CLAIMED, GATE_TAKEN
    };

    static final Deed PARK = (stage, through, hand) -> {
        Set<String> parked = texts(through.runs().parkRunning(OWNER, stage.attempts(hand)));
        return new Told(parked, parked.size() < stage.attempts(hand).size());
    };

    RaceCases() {
        endings();
        claims();
        nodes();
        lanes();
        desk();
        inbox();
        purges();
        addAll(new RaceScheduleCases().all());
    }

    private void endings() {
        ending("Endings.SUCCEED_IN_PLACE", new Transition.Complete(null));
        ending("Endings.SUCCEED", new Transition.Complete(RaceStage.bytes("\"sent\"")));
        ending("Endings.AGAIN", new Transition.Retry(SECOND, "oops", false));
        ending("Endings.DIE", new Transition.Die("no"));
        ending("Endings.CANCEL", new Transition.Cancel("enough"));
        ending("Endings.AWAIT", new Transition.Await(MINUTE, "digest", TEN));
        add("Endings.SUCCEED", (stage, through, hand) -> complete(through, null), AWAITING);
        add("Endings.AGAIN", (stage, through, hand) -> complete(through, "refused"), AWAITING);
        add("Endings.DIE", (stage, through, hand) -> complete(through, "refused"), AWAITED_IN_VAIN);
        add("Endings.SUCCEED", (stage, through, hand) -> complete(through, null), AWAITED_IN_VAIN);
    }

    private void ending(String statement, Transition transition) {
        add(statement, (stage, through, hand) -> ended(through, OWNER, stage.ended(hand, transition)), HELD);
        add(statement, (stage, through, hand) -> ended(through, OTHER, stage.ended(hand, transition)), ACCUSED);
    }

    /** As an executor does it: what was locked for long is sent again. */
    static List<Verdict> ended(Storage through, UUID owner, List<Ended> ended) {
        List<Verdict> verdicts = new ArrayList<>(through.runs().apply(owner, ended));
        for (int i = 0; i < ended.size(); i++)
            while (verdicts.get(i) == Verdict.LOCKED)
                verdicts.set(
                        i, through.runs().apply(owner, ended.subList(i, i + 1)).get(0));
        return verdicts;
    }

    private static Object complete(Storage through, String error) {
        return through.runDesk().complete(PROJECT, CONTESTED, 1, "digest", error);
    }

    private void claims() {
        Deed claim = (stage, through, hand) ->
                RaceStage.text(through.runs().claim(RaceStage.request(hand)).attempts());
        skipping(Skip.ANY, "RunRepository.CLAIM", claim, WAITING, CANCEL_DUE, LANE, PAUSED_LANE, LIMITED, RATED, KEYED);
        skipping(Skip.ANY, "RunRepository.CLAIM", claim, TICKS, OVERLAP_CANCEL_IDLE);
        for (String statement : List.of("RunRepository.CLAIM_SUSPECTS", "RunRepository.MARK_TRIAL"))
            skipping(
                    Skip.ANY,
                    statement,
                    (stage, through, hand) -> RaceStage.text(
                            through.runs().claimSuspect(RaceStage.newcomer(hand), Set.of(Order.HANDLER)).stream()
                                    .toList()),
                    SUSPECT,
                    ACCUSED);
        add(
                "RunRepository.HAND_BACK",
                (stage, through, hand) -> through.runs().handBack(OWNER, stage.attempts(hand)),
                HELD);
        skipping(Skip.ROW, "RunRepository.PARK_RUNNING", PARK, HELD);
        skipping(Skip.ROW, "RunRepository.PARK_RUNNING", PARK, ORPHANED_LONG);
        // Only the node itself rewrites its notes, one time after the other.
        add(
                "RunRepository.REWRITE_NOTES",
                (stage, through, hand) -> done(() -> through.runs()
                        .rewriteNotes(OWNER, Set.of(hand.first() ? 0L : 1L), hand.first() ? 1 : 2, stage.held(hand))),
                CLAIMED,
                ORPHANED_LONG);
        add(
                "NodeRepository.RENEW_LEASE",
                (stage, through, hand) -> through.nodes().renew(OWNER, stage.held(hand), MINUTE),
                LEASE_EXPIRED);
        add(
                "RunRepository.PASS_ON",
                (stage, through, hand) -> through.runs().passOn(OWNER, stage.attempts(hand)),
                HELD);
        // The answer is about the runs that are let go; a heartbeat finds the orders that are left.
        leaving(
                "CancelOrders.END_LET_GO",
                (stage, through, hand) -> through.runs().passOn(OWNER, stage.attempts(hand)),
                DUE_SWEEP,
                CANCEL_DUE,
                CANCEL_ORDERED);
    }

    private void nodes() {
        Deed beat = (stage, through, hand) -> {
            Beat answer = through.nodes().beat(OWNER, 1, notes(hand));
            return "alive=" + answer.alive() + " cancels=" + answer.cancels();
        };
        // Each beat tells the progress of all that its node holds.
        leaving("NodeRepository.PROGRESS", beat, beat, CLAIMED, PARKED);
        add("NodeRepository.BEAT", beat, EMPTY, ORPHANED, CLAIMED);
        add(
                "NodeRepository.DECLARE_DEAD",
                (stage, through, hand) -> through.nodes().declareDead(OWNER, 0, "silent"),
                EMPTY,
                CLAIMED);
        add(
                "NodeRepository.RETIRE",
                (stage, through, hand) -> done(() -> through.nodes().retire(OWNER)),
                EMPTY,
                CLAIMED,
                ORPHANED);
        add(
                "NodeRepository.REGISTER",
                (stage, through, hand) -> done(
                        () -> through.nodes().register(RaceStage.info(hand.first() ? OWNER : OTHER, Order.HANDLER))),
                EMPTY,
                LEFTOVERS);
        Deed wake = (stage, through, hand) -> done(() -> through.nodes().wake(Set.of(Order.HANDLER)));
        // A process without a node wakes what it knows each time it is called.
        leaving("NodeRepository.WAKE", wake, wake, NO_HANDLER);
        // A heartbeat finds runs that wait for a handler although a node has it.
        leaving(
                "NodeRepository.WAKE_STRANGERS",
                (stage, through, hand) ->
                        done(() -> through.nodes().register(RaceStage.info(RaceStage.newcomer(hand), Order.HANDLER))),
                DUE_SWEEP,
                NO_HANDLER);
        sweeping(Skip.PART, 3, "NodeRepository.SET_ASIDE", SUSPECT_WITHOUT_HANDLER);
        // Whoever leaves a run out does not mark its dead node as swept: the next heartbeat finds it.
        sweeping(Skip.ROW, 3, "Sweeper.RELEASE", ORPHANED, ORPHANED_LONG, LEASE_EXPIRED, ACCUSED);
        sweeping(Skip.ROW, 1, "Sweeper.QUARANTINE", ACCUSED);
        for (String statement : List.of("Sweeper.JUDGE", "Sweeper.FORGET_NOTES", "Sweeper.SWEPT"))
            sweeping(Skip.PART, 3, statement, ORPHANED, ORPHANED_LONG, ACCUSED);
        sweeping(Skip.ROW, 3, "Endings.DIE", AWAITED_IN_VAIN);
    }

    private void sweeping(Skip skip, int crashLimit, String statement, RaceScene... scenes) {
        Deed sweep = (stage, through, hand) -> through.nodes().sweep(crashLimit);
        skipping(skip, statement, sweep, dueSweep(crashLimit), scenes);
    }

    private static List<ProgressNote> notes(Hand hand) {
        List<ProgressNote> notes = new ArrayList<>();
        if (hand.batch()) notes.add(new ProgressNote(PROJECT, RaceStage.LEFT, 1, new Progress(3, 9)));
        notes.add(new ProgressNote(PROJECT, CONTESTED, 1, new Progress(hand.first() ? 4 : 5, 9)));
        if (hand.batch()) notes.add(new ProgressNote(PROJECT, RaceStage.RIGHT, 1, new Progress(3, 9)));
        return notes;
    }

    private void lanes() {
        RaceScene[] any = {
            CLAIMED,
            PARKED,
            ORPHANED,
            LEASE_EXPIRED,
            SUSPECT,
            ACCUSED,
            AWAITING,
            AWAITED_IN_VAIN,
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
        Deed limit = (stage, through, hand) ->
                done(() -> through.lanes().limit(Order.MAIL, Limits.running(hand.first() ? 7 : 8)));
        // It waits for no run, and a claim that began before the limit may commit after the count: claims that see the
        // limit count again.
        leaving("LaneGates.COUNT_IN", limit, RaceCases::count, any);
        add("LaneRepository.LIMIT", limit, LANE, PAUSED_LANE, LIMITED, LIMITED_CLAIMED, BREAKER_OPEN, EMPTY);
        add(
                "LaneRepository.WEIGH",
                (stage, through, hand) -> done(() -> through.lanes().weigh(Order.MAIL, hand.first() ? 3 : 4)),
                LANE,
                PAUSED_LANE,
                LIMITED,
                EMPTY);
        add(
                "LaneRepository.PAUSE",
                (stage, through, hand) -> through.lanes().pause(Order.MAIL, hand.first() ? "ann" : "bob", null),
                LANE,
                PAUSED_LANE,
                LIMITED,
                BREAKER_OPEN,
                EMPTY);
        add(
                "LaneRepository.RESUME",
                (stage, through, hand) -> through.lanes().resume(Order.MAIL),
                PAUSED_LANE,
                BREAKER_OPEN,
                BREAKER_PROBED);
        Deed claim = (stage, through, hand) ->
                RaceStage.text(through.lanes().claim(RaceStage.request(hand)).attempts());
        skipping(Skip.ANY, "LaneGates.COUNTED", claim, LIMITED);
        skipping(Skip.ANY, "LaneGates.TAKE", claim, LIMITED, BREAKER_OPEN);
        skipping(Skip.ANY, "LaneGates.PAY", claim, LIMITED);
        skipping(Skip.ANY, "LaneGates.PROBE", claim, BREAKER_OPEN);
        Deed failed = (stage, through, hand) ->
                through.lanes().report(RaceStage.claimer(hand), List.of(new LaneLoad(Order.MAIL, 0, 20)));
        for (String statement : List.of("LaneGates.REPORT", "LaneGates.OPEN", "LaneGates.FORGET"))
            add(statement, failed, LANE, PAUSED_LANE, LIMITED, EMPTY);
        Deed well = (stage, through, hand) ->
                through.lanes().report(RaceStage.claimer(hand), List.of(new LaneLoad(Order.MAIL, 1, 0)));
        add("LaneGates.PROBED_LANES", well, BREAKER_PROBED);
        add("LaneGates.FORGET", well, BREAKER_PROBED);
        add("LaneGates.REPORT", well, BREAKER_PROBED, LEFTOVERS);
    }

    /** The claim of a node that does not live counts and takes nothing. */
    private static Object count(RaceStage stage, Storage through, Hand hand) {
        return through.lanes().claim(RaceStage.request(NO_NODE, 9)).attempts();
    }

    private void desk() {
        Deed cancel = (stage, through, hand) ->
                through.runDesk().cancel(PROJECT, CONTESTED, "by " + (hand.first() ? "ann" : "bob"));
        add(
                "DeskRepository.CANCEL_WAITING",
                cancel,
                WAITING,
                KEYED,
                CLAIMED,
                CANCEL_DUE,
                SUSPECT,
                SUSPECT_WITHOUT_HANDLER,
                ACCUSED,
                AWAITING,
                AWAITED_IN_VAIN,
                NO_HANDLER,
                LIMITED,
                GATED,
                RATED,
                LANE,
                BREAKER_OPEN,
                ORPHANED);
        add("DeskRepository.CANCEL_RUNNING", cancel, HELD);
        add("DeskRepository.CANCEL_RUNNING", cancel, ACCUSED);
        add(
                "DeskRepository.CANCEL_MANY",
                bulk(RunState.WAITING, new BulkDeed.Cancel("all")),
                WAITING,
                CANCEL_DUE,
                SUSPECT,
                NO_HANDLER,
                LIMITED,
                GATED,
                RATED);
        add(
                "DeskRepository.CANCEL_MANY_RUNNING",
                bulk(RunState.RUNNING, new BulkDeed.Cancel("all")),
                CLAIMED,
                PARKED,
                ORPHANED,
                GATE_TAKEN,
                AWAITING);
        Deed reschedule = (stage, through, hand) -> through.runDesk().reschedule(PROJECT, CONTESTED, due(hand));
        add(
                "DeskRepository.RESCHEDULE",
                reschedule,
                WAITING,
                KEYED,
                CANCEL_DUE,
                NO_HANDLER,
                LIMITED,
                CLAIMED,
                BREAKER_OPEN,
                GATED);
        // One chunk, because between two of them another caller may move a run, which is then moved and counted twice.
        skipping(
                Skip.ROW,
                "DeskRepository.RESCHEDULE",
                (stage, through, hand) -> through.runDesk()
                        .bulk(PROJECT, RunFilter.all().state(RunState.WAITING), new BulkDeed.Reschedule(due(hand))),
                WAITING,
                CANCEL_DUE,
                LIMITED);
        Deed redrive = (stage, through, hand) -> through.runDesk().redrive(PROJECT, List.of(CONTESTED));
        add("DeskRepository.REDRIVE", redrive, DEAD, DEAD_KEYED);
        add("DeskRepository.REDRIVE_MANY", bulk(RunState.DEAD, new BulkDeed.Redrive()), DEAD);
        add("DeskRepository.DELETE_MANY", bulk(RunState.DEAD, new BulkDeed.Delete()), DEAD, DEAD_KEYED);
    }

    private static java.time.Instant due(Hand hand) {
        return StoreBench.NOON.plus(Duration.ofHours(hand.first() ? 1 : 2));
    }

    private static Deed bulk(RunState state, BulkDeed deed) {
        return (stage, through, hand) -> bulk(through, state, deed);
    }

    /** As callers do it: until there are no more. */
    private static int bulk(Storage through, RunState state, BulkDeed deed) {
        int all = 0;
        for (int chunk = -1; chunk != 0; all += Math.max(0, chunk))
            chunk = through.runDesk().bulk(PROJECT, RunFilter.all().state(state), deed);
        return all;
    }

    private void inbox() {
        RaceScene[] keys = {EMPTY, KEYED, DEAD_KEYED};
        Order keyed = Order.mail().key("key");
        enqueuing("InboxRepository.INSERT", keyed, true, false, keys);
        enqueuing("InboxRepository.INSERT_AND_NOTIFY", keyed, true, true, keys);
        enqueuing("InboxRepository.INSERT_ONE", keyed, false, false, keys);
        enqueuing("InboxRepository.INSERT_ONE_AND_NOTIFY", keyed, false, true, keys);
        enqueuing("GatedInbox.INSERT_GATED", keyed.concurrencyKey("shop", 1), false, false, keys);
        enqueuing("GatedInbox.INSERT_GATED", Order.mail().concurrencyKey("shop", 1), false, false, GATED, GATE_TAKEN);
        enqueuing("GatedInbox.INSERT_GATED", Order.mail().rateKey("shop", 2, TEN), false, false, RATED);
        Deed holding = (stage, through, hand) -> through.inbox()
                .enqueue(runs(keyed, hand, false).stream()
                        .map(run -> run.holding(MINUTE))
                        .toList());
        add("InboxRepository.HOLD", holding, EMPTY, KEYED, DEAD_KEYED, LEFTOVERS);
        add("InboxRepository.LET_GO", holding, KEYED);
    }

    private void enqueuing(String statement, Order order, boolean several, boolean tell, RaceScene... scenes) {
        add(statement, (stage, through, hand) -> through.inbox().enqueue(runs(order, hand, several), tell), scenes);
    }

    /** The contested key comes with bystanders in a batch, or where the statement is one for several runs. */
    private static List<NewRun> runs(Order order, Hand hand, boolean several) {
        List<NewRun> runs = new ArrayList<>();
        if (hand.batch() && !several && order.gate() == null) return List.of(order.run(RaceStage.fresh(hand, 0)));
        if (several || hand.batch())
            runs.add(Order.mail().key(order.gate() == null ? "before" : null).run(RaceStage.fresh(hand, 1)));
        runs.add(order.run(RaceStage.fresh(hand, 0)));
        return runs;
    }

    private void purges() {
        Deed purge = (stage, through, hand) -> through.housekeeping().purge(Duration.ZERO, Duration.ZERO);
        for (String table : List.of("AWAITED", "CANCELS", "HOLDS", "LOADS", "NODES", "NOTES", "PROGRESS", "RATES"))
            skipping(Skip.PART, "HousekeepingRepository.PURGE_" + table, purge, LEFTOVERS);
        skipping(Skip.PART, "HousekeepingRepository.PURGE_DEAD_RUNS", purge, DEAD, DEAD_KEYED);
        skipping(Skip.PART, "HousekeepingRepository.PURGE_PROGRESS", purge, CLAIMED);
        skipping(Skip.PART, "HousekeepingRepository.PURGE_CANCELS", purge, CLAIMED, CANCEL_DUE, CANCEL_ORDERED);
        skipping(Skip.PART, "HousekeepingRepository.PURGE_AWAITED", purge, CLAIMED, AWAITING);
    }
}
