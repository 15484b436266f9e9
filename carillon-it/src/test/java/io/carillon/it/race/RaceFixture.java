package io.carillon.it.race;

import io.carillon.Stats.RunStats;
import io.carillon.event.EventId;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.Transition;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.node.NodeRegistration;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.RunWaitStore;
import io.carillon.internal.store.run.WorkflowSignalStore;
import io.carillon.internal.store.run.WorkflowStepStore;
import io.carillon.internal.store.stats.DurationHistogram;
import io.carillon.internal.store.stats.StatsRow;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.SchedulePolicies;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * The rows of a race: three runs, of which the middle one is contested, two nodes, and the rows that a setup adds. All
 * ids are the same in each race.
 */
final class RaceFixture extends PlanningContract {
    static final Duration TEN = Duration.ofSeconds(10);
    static final Duration MINUTE = Duration.ofMinutes(1);
    static final RunId LEFT = new RunId(id(1));
    static final RunId CONTESTED = new RunId(id(2));
    static final RunId RIGHT = new RunId(id(3));
    static final List<RunId> RUNS = List.of(LEFT, CONTESTED, RIGHT);
    /** A run that does not exist. */
    static final RunId AWAITED = new RunId(id(72));

    static final UUID OWNER = id(11);
    static final UUID OTHER = id(12);
    private static final UUID NEXT = id(13);
    static final GateName SHOP = new GateName(PROJECT, "concurrency:shop");
    static final GateName RATE = new GateName(PROJECT, "rate:10000:shop");

    private static final String CONTESTED_LABEL = "CONTESTED";
    private static final List<String> BYSTANDERS = List.of("LEFT", "RIGHT", "ASIDE");

    private final PostgresStoreFixture storeFixture;
    private final Map<String, String> names = new HashMap<>();
    private final Map<RunId, Attempt> attempts = new LinkedHashMap<>();
    private List<TickPlan> plans = List.of();
    private List<RunId> ticks = List.of();
    private RunId contested = CONTESTED;
    private List<EventDispatchStore.Cursor> subscriptions = List.of();
    private EventDispatchStore.Place place;
    private List<EventDispatchStore.Head> heads = List.of();

    RaceFixture(PostgresStoreFixture fixture) {
        this.storeFixture = fixture;
        name(LEFT, "LEFT");
        name(CONTESTED, CONTESTED_LABEL);
        name(RIGHT, "RIGHT");
        for (RaceCase.Sender sender : RaceCase.Sender.values())
            for (int i = 0; i < 3; i++)
                name(newRunId(sender, i), i == 0 ? "NEW_" + senderName(sender) : "NEW_" + i + "_" + senderName(sender));
        names.put(OWNER.toString(), "OWNER");
        names.put(OTHER.toString(), "OTHER");
        names.put(NEXT.toString(), "NEXT");
        names.put(newNode(RaceCase.Sender.FIRST).toString(), "NODE_OF_A");
        names.put(newNode(RaceCase.Sender.SECOND).toString(), "NODE_OF_B");
    }

    private static String senderName(RaceCase.Sender sender) {
        return sender.first() ? "OF_A" : "OF_B";
    }

    static UUID id(int number) {
        return new UUID(0x0190_0000_0000_7000L, 0x8000_0000_0000_0000L + number);
    }

    private void name(RunId run, String name) {
        names.put(run.value().toString(), name);
        names.put(run.toString(), name);
    }

    @Override
    public StoreFixture fixture() {
        return storeFixture;
    }

    PostgresStoreFixture database() {
        return storeFixture;
    }

    Map<String, String> names() {
        return names;
    }

    /**
     * Returns whether the row is about bystanders only. Claim records are excluded, because they stay until all runs of
     * their node are released.
     */
    static boolean aboutBystanders(String line) {
        return !line.startsWith("claim_record ")
                && !line.contains(CONTESTED_LABEL)
                && BYSTANDERS.stream().anyMatch(line::contains);
    }

    /** Returns the id of a run that this sender creates; number 0 is the contested one of its group. */
    static RunId newRunId(RaceCase.Sender sender, int number) {
        return new RunId(id((sender.first() ? 20 : 30) + number));
    }

    static UUID newNode(RaceCase.Sender sender) {
        return id(sender.first() ? 41 : 42);
    }

    /** Returns the node that claims for this sender; each sender has its own. */
    static UUID claimer(RaceCase.Sender sender) {
        return sender.first() ? OWNER : OTHER;
    }

    /** Registers a node whose id is the same in each race. */
    @Override
    public UUID node(String... handlers) {
        storage().nodes().register(info(NEXT, handlers));
        return NEXT;
    }

    void nodes(String... handlers) {
        for (UUID node : List.of(OWNER, OTHER)) storage().nodes().register(info(node, handlers));
    }

    static NodeRegistration info(UUID node, String... handlers) {
        return new NodeRegistration(node, "n", "host", 1, "1", Set.of(handlers), Set.of(handlers), 50, "notify");
    }

    void runs() {
        runs(RunSpec.mail());
    }

    /** Stores three runs; the contested one is due first. */
    void runs(RunSpec spec) {
        nodes(RunSpec.HANDLER);
        List<NewRun> runs = List.of(
                spec.run(LEFT), spec.at(StoreFixture.NOON.minusSeconds(1)).run(CONTESTED), spec.run(RIGHT));
        storage().newRuns().enqueue(runs).forEach(answer -> {
            if (!(answer instanceof EnqueueResult.Enqueued)) throw new AssertionError(answer.toString());
        });
    }

    /** Stores three runs that wait for a run that has left the history. */
    void waiting(Enqueue.OnFailure onFailure) {
        nodes(RunSpec.HANDLER);
        RunSpec spec = RunSpec.mail().afterRuns(onFailure, new RunId(id(71)));
        storage().newRuns().enqueue(RUNS.stream().map(spec::run).toList());
    }

    /** Claims the runs, records that each of them waits for a signal, and sends it. */
    void awaitingSignal() {
        claimed();
        for (RunId run : RUNS) {
            storage()
                    .workflowSteps()
                    .record(
                            new WorkflowStepStore.Holder(PROJECT, run, OWNER, 1),
                            new WorkflowStepStore.NewStep(
                                    WorkflowStepStore.StepKind.AWAIT, 0, "approval", null, null, MINUTE));
            storage()
                    .workflowSignals()
                    .send(
                            new WorkflowSignalStore.NewSignal(PROJECT, run, id(81), "mail-76", "approval", bytes("1")),
                            false);
        }
    }

    /** Claims the runs, and records that each of them awaits a run that does not exist. */
    void awaitingRun() {
        claimed();
        for (RunId run : RUNS)
            storage()
                    .workflowSteps()
                    .recordRunWait(new WorkflowStepStore.Holder(PROJECT, run, OWNER, 1), runWait(0), AWAITED);
    }

    /** Claims the runs, records that each of them has a step to undo, and releases them. */
    void undoable(Duration snooze) {
        claimed();
        for (RunId run : RUNS)
            storage()
                    .workflowSteps()
                    .record(
                            new WorkflowStepStore.Holder(PROJECT, run, OWNER, 1),
                            new WorkflowStepStore.NewStep(
                                    WorkflowStepStore.StepKind.UNDO, 0, "charge", null, null, null));
        end(new Transition.Snooze(snooze));
    }

    static WorkflowStepStore.NewStep runWait(int position) {
        return new WorkflowStepStore.NewStep(WorkflowStepStore.StepKind.AWAIT_RUN, position, "run", null, null, null);
    }

    /** Returns the key of the contested run or, for a batch, the keys of all runs. */
    static List<RunWaitStore.RunKey> keys(RaceCase.Sender sender) {
        return (sender.batch() ? RUNS : List.of(CONTESTED))
                .stream().map(run -> new RunWaitStore.RunKey(PROJECT, run)).toList();
    }

    /** Publishes events whose ids are the same in each race. */
    void publish(EventId... ids) {
        nodes(RunSpec.HANDLER);
        storage()
                .events()
                .publish(
                        Stream.of(ids)
                                .map(id -> RaceEventCases.event(id, false, null))
                                .toList(),
                        false);
    }

    /** Creates a subscription with two events behind its cursor. */
    void subscribed() {
        publish(RaceEventCases.FIRST, RaceEventCases.SECOND_EVENT);
        storage().events().declare(RaceEventCases.declaration("order.*"));
        storage().eventDispatch().storeSnapshot();
        subscriptions = storage().eventDispatch().behind(10);
    }

    /** Removes the cursor of the subscription, which has reached the place. */
    void joined() {
        EventDispatchStore dispatch = storage().eventDispatch();
        if (dispatch.join(dispatch.place(), List.of(subscription().name())) != 1) throw new AssertionError("no join");
        readPlace();
    }

    void readPlace() {
        place = storage().eventDispatch().place();
        heads = storage().eventDispatch().read(new EventDispatchStore.Window(EventPosition.endOf(0), 1, null), 10);
    }

    /** Returns the place as it was read before the race. */
    EventDispatchStore.Place place() {
        return place;
    }

    /** Returns the events of the first tick. */
    List<EventDispatchStore.Head> heads() {
        return heads;
    }

    /** Returns the subscription as it was read before the race. */
    EventDispatchStore.Cursor subscription() {
        return subscriptions.get(0);
    }

    void keyedRuns() {
        nodes(RunSpec.HANDLER);
        storage()
                .newRuns()
                .enqueue(List.of(
                        RunSpec.mail().key("left").run(LEFT),
                        RunSpec.mail()
                                .at(StoreFixture.NOON.minusSeconds(1))
                                .key("key")
                                .run(CONTESTED),
                        RunSpec.mail().key("right").run(RIGHT)));
    }

    void claimed() {
        runs();
        claimAll(OWNER);
    }

    void claimAll(UUID node) {
        rememberAttempts(claim(node, 9));
    }

    void rememberAttempts(List<Attempt> claimed) {
        claimed.forEach(attempt -> attempts.put(attempt.run(), attempt));
    }

    /** Returns the attempt of the contested run or, for a batch, the attempts of all claimed runs. */
    List<Attempt> attempts(RaceCase.Sender sender) {
        if (sender.batch()) return List.copyOf(attempts.values());
        Attempt attempt = attempts.get(contested);
        if (attempt == null) throw new AssertionError("The setup did not claim the contested run.");
        return List.of(attempt);
    }

    List<EndedAttempt> ended(RaceCase.Sender sender, Transition transition) {
        return attempts(sender).stream()
                .map(attempt -> ended(attempt, transition))
                .toList();
    }

    /** Ends all attempts that {@link #OWNER} holds with this transition. */
    void end(Transition transition) {
        storage().runs().apply(OWNER, ended(RaceCase.Sender.SECOND_BATCH, transition));
    }

    List<OwnedRun> held(RaceCase.Sender sender) {
        return attempts(sender).stream()
                .map(attempt -> new OwnedRun(PROJECT, attempt.run(), attempt.number()))
                .toList();
    }

    static ClaimRequest request(RaceCase.Sender sender) {
        return request(claimer(sender), sender == RaceCase.Sender.FIRST ? 1 : 9);
    }

    /** Returns a claim of the contested run by a caller without a node. */
    static ClaimRequest requestOfRun(RaceCase.Sender sender) {
        return ClaimRequest.ofRun(claimer(sender), RunSpec.MAIL, Priority.NORMAL, CONTESTED, Duration.ofSeconds(30));
    }

    static ClaimRequest request(UUID node, int count) {
        return new ClaimRequest(node, List.of(laneClaim(RunSpec.MAIL, Priority.NORMAL, count)), Set.of(), null, 0);
    }

    /** Stores the contested schedule and another one, advances the clock, and plans both ahead of the race. */
    void schedules(ScheduleSpec spec, Duration passed) {
        schedules(spec, spec.named("aside"), passed);
    }

    void schedules(ScheduleSpec spec, ScheduleSpec aside, Duration passed) {
        nodes(RunSpec.HANDLER);
        for (ScheduleSpec one : List.of(spec, aside)) {
            Schedule stored = store(one);
            names.put(stored.id().value().toString(), one.name().equals("aside") ? "ASIDE" : CONTESTED_LABEL);
        }
        ticks = ticksOf("report");
        contested = ticks.isEmpty() ? CONTESTED : ticks.get(0);
        for (int i = 0; i < ticks.size(); i++) name(ticks.get(i), CONTESTED_LABEL + "_TICK_" + i);
        List<RunId> others = ticksOf(aside.name());
        for (int i = 0; i < others.size(); i++) name(others.get(i), "ASIDE_TICK_" + i);
        advance(passed);
        plans = plans(due());
    }

    /** Plans all schedules as stored, whether or not they are due. */
    void planAhead() {
        Instant now = storeFixture.clock().now();
        plans = storage().schedules().list(PROJECT).stream()
                .map(schedule -> PLANNER.plan(schedule, List.of(), now))
                .toList();
    }

    List<TickPlan> plans(RaceCase.Sender sender) {
        return plans.stream()
                .filter(plan -> sender.batch() || plan.schedule().name().equals("report"))
                .toList();
    }

    /** Returns a tick of the contested schedule, numbered by planned instant. */
    RunId tick(int number) {
        return ticks.get(number);
    }

    private List<RunId> ticksOf(String schedule) {
        return storeFixture.query("""
                        SELECT r.id FROM carillon.run r JOIN carillon.schedule s ON s.id = r.schedule_id
                         WHERE s.name = ? AND r.origin = 'tick' ORDER BY r.planned_at
                        """, schedule).texts().stream()
                .map(id -> new RunId(UUID.fromString(id)))
                .toList();
    }

    List<GateName> gates(RaceCase.Sender sender) {
        List<GateName> gates = new ArrayList<>();
        for (Schedule schedule : storage().schedules().list(PROJECT))
            if (sender.batch() || schedule.name().equals("report"))
                gates.add(new GateName(PROJECT, "overlap:" + schedule.id().value()));
        return gates;
    }

    /** Stores two schedules with an interval of ten seconds and this policy; their first ticks are due. */
    void overlapping(OverlapPolicy overlapPolicy) {
        schedules(ScheduleSpec.every(TEN).policies(SchedulePolicies.defaults().overlap(overlapPolicy)), TEN);
    }

    /** Like {@link #overlapping}, but the first ticks run. */
    void started(OverlapPolicy overlapPolicy) {
        overlapping(overlapPolicy);
        storage().gates().promote(gates(RaceCase.Sender.SECOND_BATCH));
        claimAll(OWNER);
    }

    /** Like {@link #started}, but the second ticks are due. */
    void overlapped(OverlapPolicy overlapPolicy) {
        started(overlapPolicy);
        advance(TEN);
    }

    static List<String> text(List<Attempt> claimed) {
        List<String> lines = new ArrayList<>();
        for (Attempt attempt : claimed)
            lines.add((attempt.times().plannedAt() == null
                            ? attempt.run()
                            : attempt.times().plannedAt()) + " attempt " + attempt.number());
        lines.sort(null);
        return lines;
    }

    /** Returns the statistics that a sender writes: of the contested minute, and with a batch also of another queue. */
    static List<StatsRow> stats(RaceCase.Sender sender, long version) {
        StatsRow.Durations durations = new StatsRow.Durations(
                DurationHistogram.EMPTY, DurationHistogram.EMPTY, new DurationHistogram(version, List.of(version)));
        return (sender.batch() ? List.of("contested", "other") : List.of("contested"))
                .stream()
                        .map(queue -> new StatsRow(
                                new StatsRow.Key(id(70), StoreFixture.NOON, PROJECT, queue, RunSpec.HANDLER),
                                version,
                                Map.of(RunStats.Count.SUCCEEDED, version),
                                durations))
                        .toList();
    }
}
