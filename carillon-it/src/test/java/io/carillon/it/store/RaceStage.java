package io.carillon.it.store;

import io.carillon.run.Attempt;
import io.carillon.run.EnqueueResult;
import io.carillon.run.NewRun;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Transition;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.Policies;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Ended;
import io.carillon.store.GateName;
import io.carillon.store.HeldRun;
import io.carillon.store.NodeInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** What two statements meet on: three runs, of which the middle one is contested, two nodes, and what else a scene prepares. All ids are the same each time. */
final class RaceStage extends PlanningContract {
    static final Duration TEN = Duration.ofSeconds(10);
    static final Duration MINUTE = Duration.ofMinutes(1);
    static final RunId LEFT = new RunId(id(1));
    static final RunId CONTESTED = new RunId(id(2));
    static final RunId RIGHT = new RunId(id(3));
    static final List<RunId> RUNS = List.of(LEFT, CONTESTED, RIGHT);
    static final UUID OWNER = id(11);
    static final UUID OTHER = id(12);
    private static final UUID NEXT = id(13);
    static final GateName SHOP = new GateName(PROJECT, "concurrency:shop");
    static final GateName RATE = new GateName(PROJECT, "rate:10000:shop");

    private static final String CONTESTED_NAME = "CONTESTED";
    private static final List<String> BYSTANDERS = List.of("LEFT", "RIGHT", "ASIDE");

    private final PostgresBench bench;
    private final Map<String, String> names = new HashMap<>();
    private final Map<RunId, Attempt> attempts = new LinkedHashMap<>();
    private List<TickPlan> plans = List.of();
    private List<RunId> ticks = List.of();
    private RunId contested = CONTESTED;

    RaceStage(PostgresBench bench) {
        this.bench = bench;
        name(LEFT, "LEFT");
        name(CONTESTED, CONTESTED_NAME);
        name(RIGHT, "RIGHT");
        for (RaceCase.Hand hand : RaceCase.Hand.values())
            for (int i = 0; i < 3; i++)
                name(fresh(hand, i), i == 0 ? "NEW_" + who(hand) : "NEW_" + i + "_" + who(hand));
        names.put(OWNER.toString(), "OWNER");
        names.put(OTHER.toString(), "OTHER");
        names.put(NEXT.toString(), "NEXT");
        names.put(newcomer(RaceCase.Hand.FIRST).toString(), "NODE_OF_A");
        names.put(newcomer(RaceCase.Hand.SECOND).toString(), "NODE_OF_B");
    }

    private static String who(RaceCase.Hand hand) {
        return hand.first() ? "OF_A" : "OF_B";
    }

    static UUID id(int number) {
        return new UUID(0x0190_0000_0000_7000L, 0x8000_0000_0000_0000L + number);
    }

    private void name(RunId run, String name) {
        names.put(run.value().toString(), name);
        names.put(run.toString(), name);
    }

    @Override
    StoreBench bench() {
        return bench;
    }

    PostgresBench database() {
        return bench;
    }

    Map<String, String> names() {
        return names;
    }

    /** Notes of claims stay until all runs of their node are released. */
    static boolean aboutBystanders(String line) {
        return !line.startsWith("claim_note ")
                && !line.contains(CONTESTED_NAME)
                && BYSTANDERS.stream().anyMatch(line::contains);
    }

    /** The id of a run that this hand makes; number 0 is the contested one of its group. */
    static RunId fresh(RaceCase.Hand hand, int number) {
        return new RunId(id((hand.first() ? 20 : 30) + number));
    }

    static UUID newcomer(RaceCase.Hand hand) {
        return id(hand.first() ? 41 : 42);
    }

    /** Two hands that claim are two nodes. */
    static UUID claimer(RaceCase.Hand hand) {
        return hand.first() ? OWNER : OTHER;
    }

    /** With an id that is the same each time. */
    @Override
    UUID node(String... handlers) {
        storage().nodes().register(info(NEXT, handlers));
        return NEXT;
    }

    void nodes(String... handlers) {
        for (UUID node : List.of(OWNER, OTHER)) storage().nodes().register(info(node, handlers));
    }

    static NodeInfo info(UUID node, String... handlers) {
        return new NodeInfo(node, "n", "host", 1, "1", Set.of(handlers), 50, "notify");
    }

    void runs() {
        runs(Order.mail());
    }

    /** Three of them; of those that are due now the contested one comes first. */
    void runs(Order order) {
        nodes(Order.HANDLER);
        List<NewRun> runs = List.of(
                order.run(LEFT), order.at(StoreBench.NOON.minusSeconds(1)).run(CONTESTED), order.run(RIGHT));
        storage().inbox().enqueue(runs).forEach(answer -> {
            if (!(answer instanceof EnqueueResult.Enqueued)) throw new AssertionError(answer.toString());
        });
    }

    void keyedRuns() {
        nodes(Order.HANDLER);
        storage()
                .inbox()
                .enqueue(List.of(
                        Order.mail().key("left").run(LEFT),
                        Order.mail()
                                .at(StoreBench.NOON.minusSeconds(1))
                                .key("key")
                                .run(CONTESTED),
                        Order.mail().key("right").run(RIGHT)));
    }

    void claimed() {
        runs();
        claimAll(OWNER);
    }

    void claimAll(UUID node) {
        keep(claim(node, 9));
    }

    void keep(List<Attempt> claimed) {
        claimed.forEach(attempt -> attempts.put(attempt.run(), attempt));
    }

    /** The attempt at the contested run, or at all three of them, as far as they were claimed. */
    List<Attempt> attempts(RaceCase.Hand hand) {
        if (hand.batch()) return List.copyOf(attempts.values());
        Attempt attempt = attempts.get(contested);
        if (attempt == null) throw new AssertionError("the scene did not claim the contested run");
        return List.of(attempt);
    }

    List<Ended> ended(RaceCase.Hand hand, Transition transition) {
        return attempts(hand).stream()
                .map(attempt -> ended(attempt, transition))
                .toList();
    }

    /** Ends all that {@link #OWNER} holds in this way. */
    void end(Transition transition) {
        storage().runs().apply(OWNER, ended(RaceCase.Hand.SECOND_BATCH, transition));
    }

    List<HeldRun> held(RaceCase.Hand hand) {
        return attempts(hand).stream()
                .map(attempt -> new HeldRun(PROJECT, attempt.run(), attempt.number()))
                .toList();
    }

    static ClaimRequest request(RaceCase.Hand hand) {
        return request(claimer(hand), hand == RaceCase.Hand.FIRST ? 1 : 9);
    }

    static ClaimRequest request(UUID node, int count) {
        return new ClaimRequest(node, List.of(quota(Order.MAIL, Priority.NORMAL, count)), Set.of(), null, 0);
    }

    /** The contested schedule, and another one beside it, both after this time; the plans of both are made ahead of the race. */
    void schedules(Promise promise, Duration passed) {
        schedules(promise, promise.named("aside"), passed);
    }

    void schedules(Promise promise, Promise aside, Duration passed) {
        nodes(Order.HANDLER);
        for (Promise one : List.of(promise, aside)) {
            Schedule stored = store(one);
            names.put(stored.id().value().toString(), one.name().equals("aside") ? "ASIDE" : CONTESTED_NAME);
        }
        ticks = ticksOf("report");
        contested = ticks.isEmpty() ? CONTESTED : ticks.get(0);
        for (int i = 0; i < ticks.size(); i++) name(ticks.get(i), CONTESTED_NAME + "_TICK_" + i);
        List<RunId> others = ticksOf(aside.name());
        for (int i = 0; i < others.size(); i++) name(others.get(i), "ASIDE_TICK_" + i);
        advance(passed);
        plans = plans(due());
    }

    /** Plans of schedules as they are, whether or not they are due. */
    void planAhead() {
        Instant now = bench.clock().now();
        plans = storage().schedules().list(PROJECT).stream()
                .map(schedule -> PLANNER.plan(schedule, List.of(), now))
                .toList();
    }

    List<TickPlan> plans(RaceCase.Hand hand) {
        return plans.stream()
                .filter(plan -> hand.batch() || plan.read().name().equals("report"))
                .toList();
    }

    /** The ticks of the contested schedule, in their order. */
    RunId tick(int number) {
        return ticks.get(number);
    }

    private List<RunId> ticksOf(String schedule) {
        return bench.rows().texts("""
                        SELECT r.id FROM carillon.run r JOIN carillon.schedule s ON s.id = r.schedule_id
                         WHERE s.name = ? AND r.origin = 'tick' ORDER BY r.planned_at
                        """, schedule).stream()
                .map(id -> new RunId(UUID.fromString(id)))
                .toList();
    }

    List<GateName> gates(RaceCase.Hand hand) {
        List<GateName> gates = new ArrayList<>();
        for (Schedule schedule : storage().schedules().list(PROJECT))
            if (hand.batch() || schedule.name().equals("report"))
                gates.add(new GateName(PROJECT, "overlap:" + schedule.id().value()));
        return gates;
    }

    /** A schedule of ten seconds with this policy, and the one beside it; their first ticks are due. */
    void overlapping(Overlap overlap) {
        schedules(Promise.every(TEN).policies(Policies.defaults().overlap(overlap)), TEN);
    }

    /** As {@link #overlapping}, and the first ticks run. */
    void started(Overlap overlap) {
        overlapping(overlap);
        storage().gates().pass(gates(RaceCase.Hand.SECOND_BATCH));
        claimAll(OWNER);
    }

    /** The first ticks run when the second ones fall due. */
    void overlapped(Overlap overlap) {
        started(overlap);
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
}
