package io.carillon.it.store;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Cancellation;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Limits;
import io.carillon.run.NewRun;
import io.carillon.run.Progress;
import io.carillon.run.Redrive;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.store.Beat;
import io.carillon.store.HeldRun;
import io.carillon.store.LaneLoad;
import io.carillon.store.NodeInfo;
import io.carillon.store.ProgressNote;
import io.carillon.store.Storage;
import io.carillon.store.Verdict;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** For each writing statement about runs, nodes and lanes: a deed that sends it, and the one effect it must have. */
final class LostAnswerCases extends LostCases {
    private final DataSource network;
    private final Map<String, Supplier<LostAnswer>> cases;

    LostAnswerCases(PostgresBench bench, Storage through, DataSource network) {
        super(bench, through);
        this.network = network;
        cases = new HashMap<>(cases());
        for (LostCases others : List.of(
                new LostScheduleCases(bench, through),
                new LostBulkCases(bench, through),
                new LostLeaseCases(bench, through),
                new LostGateCases(bench, through),
                new LostRescueCases(bench, through))) cases.putAll(others.cases());
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.ofEntries(
                entry("CancelOrders.END_LET_GO", this::endLetGo),
                entry("DeskRepository.CANCEL_RUNNING", this::cancelRunning),
                entry("DeskRepository.CANCEL_WAITING", this::cancelWaiting),
                entry("DeskRepository.REDRIVE", this::redrive),
                entry("Endings.AGAIN", this::again),
                entry("Endings.AWAIT", this::await),
                entry("Endings.CANCEL", () -> ending(new Transition.Cancel("enough"), RunState.CANCELLED)),
                entry("Endings.DIE", () -> ending(new Transition.Die("no"), RunState.DEAD)),
                entry("Endings.SUCCEED", () -> ending(new Transition.Complete(bytes("\"sent\"")), RunState.SUCCEEDED)),
                entry("Endings.SUCCEED_IN_PLACE", () -> ending(complete(), RunState.SUCCEEDED)),
                entry("HousekeepingRepository.PURGE_AWAITED", this::purge),
                entry("HousekeepingRepository.PURGE_CANCELS", this::purge),
                entry("HousekeepingRepository.PURGE_DEAD_RUNS", this::purge),
                entry("HousekeepingRepository.PURGE_HOLDS", this::purge),
                entry("HousekeepingRepository.PURGE_LOADS", this::purge),
                entry("HousekeepingRepository.PURGE_NODES", this::purge),
                entry("HousekeepingRepository.PURGE_NOTES", this::purge),
                entry("HousekeepingRepository.PURGE_PROGRESS", this::purge),
                entry("HousekeepingRepository.PURGE_RATES", this::purge),
                entry("InboxRepository.HOLD", () -> enqueueHeld(false)),
                entry("InboxRepository.INSERT", this::enqueue),
                entry("InboxRepository.INSERT_AND_NOTIFY", this::enqueueIn),
                entry("InboxRepository.INSERT_ONE", () -> enqueueOne(false)),
                entry("InboxRepository.INSERT_ONE_AND_NOTIFY", () -> enqueueOne(true)),
                entry("InboxRepository.LET_GO", () -> enqueueHeld(true)),
                entry("LaneGates.COUNT_IN", this::limitLane),
                entry("LaneGates.COUNTED", this::claimLimited),
                entry("LaneRepository.LIMIT", this::limitLane),
                entry("LaneRepository.PAUSE", this::pauseLane),
                entry("LaneRepository.WEIGH", this::weighLane),
                entry("LaneGates.FORGET", this::breakerOpens),
                entry("LaneGates.OPEN", this::breakerOpens),
                entry("LaneGates.PAY", this::claimLimited),
                entry("LaneGates.PROBE", this::probe),
                entry("LaneGates.PROBED_LANES", this::probed),
                entry("LaneGates.REPORT", this::breakerOpens),
                entry("LaneGates.TAKE", this::claimLimited),
                entry("LaneRepository.RESUME", this::resumeLane),
                entry("NodeRepository.BEAT", this::beat),
                entry("NodeRepository.DECLARE_DEAD", this::declareDead),
                entry("NodeRepository.PROGRESS", this::progress),
                entry("NodeRepository.REGISTER", this::register),
                entry("NodeRepository.RETIRE", this::retire),
                entry("NodeRepository.WAKE", this::wake),
                entry("NodeRepository.WAKE_STRANGERS", this::wakeStrangers),
                entry("PostgresStorage.ENSURE_PROJECT", this::ensureProject),
                entry("RunRepository.CLAIM", this::claim),
                entry("RunRepository.CLAIM_SUSPECTS", this::claimSuspect),
                entry("RunRepository.MARK_TRIAL", this::claimSuspect),
                entry("RunRepository.HAND_BACK", this::handBack),
                entry("RunRepository.PARK_RUNNING", this::parkRunning),
                entry("RunRepository.PASS_ON", this::passOn));
    }

    LostAnswer of(String name) {
        Supplier<LostAnswer> prepared = cases.get(name);
        if (prepared == null)
            throw new AssertionError("%s writes, and no case loses its answer: add one to %s"
                    .formatted(name, getClass().getSimpleName()));
        return prepared.get();
    }

    Set<String> names() {
        return cases.keySet();
    }

    private LostAnswer endLetGo() {
        Held held = held();
        storage().runDesk().cancel(PROJECT, held.run(), "enough");
        return LostAnswer.of(
                () -> through.runs().handBack(held.node(), List.of(held.attempt())),
                answer -> once(held.run(), RunState.CANCELLED));
    }

    private LostAnswer cancelRunning() {
        Held held = held();
        return LostAnswer.of(() -> through.runDesk().cancel(PROJECT, held.run(), "enough"), answer -> {
            assertThat(answer).isEqualTo(new Cancellation.Requested());
            assertThat(storage().nodes().beat(held.node(), 0, List.of()).cancels())
                    .containsExactly(new Beat.CancelOrder(PROJECT, held.run(), "enough"));
        });
    }

    private LostAnswer cancelWaiting() {
        RunId id = enqueue(Order.mail());
        return LostAnswer.of(() -> through.runDesk().cancel(PROJECT, id, "enough"), answer -> {
            assertThat(answer).isEqualTo(new Cancellation.AlreadyEnded(RunState.CANCELLED));
            once(id, RunState.CANCELLED);
        });
    }

    private LostAnswer redrive() {
        RunId dead = enqueue(Order.mail());
        UUID node = node();
        apply(node, claimOne(node), new Transition.Die("no"));
        return LostAnswer.of(() -> through.runDesk().redrive(PROJECT, List.of(dead)), answer -> {
            assertThat(answer).isEqualTo(List.of(new Redrive.Gone(dead)));
            assertThat(claim(node, 9)).hasSize(1);
        });
    }

    private LostAnswer again() {
        Held held = held();
        return LostAnswer.of(
                () -> through.runs()
                        .apply(
                                held.node(),
                                List.of(ended(held.attempt(), new Transition.Retry(SECOND, "oops", false)))),
                answer -> {
                    assertThat(answer).isEqualTo(List.of(Verdict.ACCEPTED));
                    assertThat(get(held.run())).returns(1, Run::failures).returns(RunState.WAITING, Run::state);
                    assertThat(storage().runDesk().attempts(PROJECT, held.run()))
                            .hasSize(1);
                });
    }

    private LostAnswer await() {
        Held held = held();
        return LostAnswer.of(
                () -> through.runs()
                        .apply(
                                held.node(),
                                List.of(ended(held.attempt(), new Transition.Await(MINUTE, "digest", SECOND)))),
                answer -> {
                    assertThat(answer).isEqualTo(List.of(Verdict.ACCEPTED));
                    once(held.run(), RunState.RUNNING);
                    assertThat(bench.rows().texts("SELECT attempt || ' ' || pause FROM carillon.awaited"))
                            .containsExactly("1 1");
                });
    }

    private LostAnswer ending(Transition transition, RunState state) {
        Held held = held();
        return LostAnswer.of(
                () -> through.runs().apply(held.node(), List.of(ended(held.attempt(), transition))), answer -> {
                    assertThat(answer).isEqualTo(List.of(Verdict.ACCEPTED));
                    once(held.run(), state);
                    assertThat(storage().runDesk().dead(PROJECT, RunFilter.all()))
                            .hasSize(state == RunState.DEAD ? 1 : 0);
                });
    }

    /** One of everything that is purged, and one of everything that is not. */
    private LostAnswer purge() {
        UUID gone = node();
        apply(gone, leftOver(gone), new Transition.Die("no"));
        storage().nodes().retire(gone);
        storage().nodes().sweep(3);
        bench.database().execute("""
                INSERT INTO carillon.key_hold SELECT 'default', 'mail', k, gen_random_uuid(), until
                  FROM (VALUES ('old', carillon.clock()), ('new', carillon.clock() + interval '1 year')) AS h(k, until)
                """);
        bench.database()
                .execute(
                        "INSERT INTO carillon.awaited VALUES ('default', gen_random_uuid(), 1, gen_random_uuid(), 'digest')");
        bench.database()
                .execute(
                        "INSERT INTO carillon.claim_note VALUES (gen_random_uuid(), 1, '{default}', ARRAY[gen_random_uuid()])");
        advance(MINUTE);
        storage().nodes().sweep(3);
        advance(Duration.ofDays(40));
        UUID stays = node();
        Attempt running = leftOver(stays);
        return LostAnswer.of(() -> through.housekeeping().purge(Duration.ofDays(30), Duration.ofHours(1)), answer -> {
            assertThat(storage().runDesk().dead(PROJECT, RunFilter.all())).isEmpty();
            assertThat(bench.rows().texts("SELECT key FROM carillon.key_hold")).containsExactly("new");
            assertThat(bench.rows().texts("SELECT run_id FROM carillon.awaited"))
                    .isEmpty();
            assertThat(bench.rows().texts("SELECT run_id FROM carillon.progress"))
                    .containsExactly(running.run().value().toString());
            assertThat(bench.rows().texts("SELECT run_id FROM carillon.cancel_request"))
                    .containsExactly(running.run().value().toString());
            assertThat(bench.rows().texts("SELECT id FROM carillon.node")).containsExactly(stays.toString());
            assertThat(bench.rows().texts("SELECT node FROM carillon.claim_note"))
                    .containsExactly(stays.toString());
        });
    }

    private Attempt leftOver(UUID node) {
        RunId id = enqueue(Order.mail());
        Attempt attempt = claimOne(node);
        storage().nodes().beat(node, 1, List.of(new ProgressNote(PROJECT, id, 1, new Progress(1, 2))));
        storage().runDesk().cancel(PROJECT, id, "enough");
        return attempt;
    }

    private LostAnswer enqueue() {
        List<NewRun> runs = List.of(Order.mail().run(), Order.mail().key("k").run());
        return LostAnswer.of(() -> through.inbox().enqueue(runs), answer -> stored(runs, answer));
    }

    private LostAnswer enqueueOne(boolean tell) {
        NewRun run = Order.mail().key("k").run();
        return LostAnswer.of(() -> through.inbox().enqueue(List.of(run), tell), answer -> {
            assertThat(answer).isEqualTo(List.of(new EnqueueResult.Enqueued(run.id())));
            assertThat(claim(node(), 9)).hasSize(1);
        });
    }

    private LostAnswer enqueueIn() {
        List<NewRun> runs = List.of(Order.mail().run(), Order.mail().key("k").run());
        return LostAnswer.of(
                () -> {
                    try (Connection connection = network.getConnection()) {
                        connection.setAutoCommit(false);
                        List<EnqueueResult> results = through.inbox().enqueueIn(connection, runs);
                        connection.commit();
                        connection.setAutoCommit(true);
                        return results;
                    }
                },
                answer -> stored(runs, answer));
    }

    private void stored(List<NewRun> runs, Object answer) {
        assertThat(answer)
                .isEqualTo(runs.stream()
                        .map(run -> new EnqueueResult.Enqueued(run.id()))
                        .toList());
        assertThat(claim(node(), 9)).hasSize(2);
    }

    private LostAnswer pauseLane() {
        return LostAnswer.of(() -> through.lanes().pause(Order.MAIL, "ann", null), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(storage().lanes().list(PROJECT)).hasSize(1);
        });
    }

    private LostAnswer resumeLane() {
        storage().lanes().pause(Order.MAIL, "ann", null);
        enqueue(Order.mail());
        return LostAnswer.of(() -> through.lanes().resume(Order.MAIL), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(claim(node(), 9)).hasSize(1);
        });
    }

    private LostAnswer beat() {
        UUID node = node();
        return LostAnswer.of(() -> through.nodes().beat(node, 0, List.of()), answer -> {
            assertThat(((Beat) answer).alive()).isTrue();
            assertThat(storage().nodes().beat(node(), 0, List.of()).peers()).containsEntry(node, 2L);
        });
    }

    private LostAnswer declareDead() {
        UUID node = node();
        return LostAnswer.of(() -> through.nodes().declareDead(node, 0, "silent"), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(storage().nodes().beat(node, 0, List.of()).alive()).isFalse();
            assertThat(storage().nodes().beat(node(), 0, List.of()).sweepDue()).isTrue();
        });
    }

    private LostAnswer progress() {
        Held held = held();
        List<ProgressNote> notes = List.of(new ProgressNote(PROJECT, held.run(), 1, new Progress(3, 4)));
        return LostAnswer.of(
                () -> through.nodes().beat(held.node(), 1, notes),
                answer -> assertThat(get(held.run()).details().progress()).isEqualTo(new Progress(3, 4)));
    }

    private LostAnswer register() {
        NodeInfo info = new NodeInfo(UUID.randomUUID(), "n", "host", 1, "1", Set.of(Order.HANDLER), 50, "notify");
        return LostAnswer.of(
                call(() -> through.nodes().register(info)),
                answer -> assertThat(storage().nodes().list())
                        .singleElement()
                        .satisfies(view -> assertThat(view.info()).isEqualTo(info)));
    }

    private LostAnswer retire() {
        UUID node = node();
        return LostAnswer.of(
                call(() -> through.nodes().retire(node)),
                answer -> assertThat(storage().nodes().beat(node, 0, List.of()).alive())
                        .isFalse());
    }

    /** A run that no node knows the handler of. */
    private RunId unknown() {
        UUID ignorant = node("other");
        RunId id = enqueue(Order.mail());
        storage().runs().passOn(ignorant, claim(ignorant, 1));
        return id;
    }

    private LostAnswer wake() {
        RunId id = unknown();
        return LostAnswer.of(call(() -> through.nodes().wake(Set.of(Order.HANDLER))), answer -> {
            assertThat(get(id).details().parked()).isNull();
            assertThat(claim(node(Order.HANDLER), 9)).hasSize(1);
        });
    }

    private LostAnswer wakeStrangers() {
        RunId id = unknown();
        NodeInfo wise = new NodeInfo(UUID.randomUUID(), "n", "host", 1, "1", Set.of(Order.HANDLER), 50, "notify");
        return LostAnswer.of(call(() -> through.nodes().register(wise)), answer -> {
            assertThat(get(id).details().parked()).isNull();
            assertThat(claim(wise.id(), 9)).hasSize(1);
        });
    }

    private LostAnswer ensureProject() {
        return LostAnswer.of(
                call(() -> through.projects().ensure("lost-and-found")),
                answer -> assertThat(bench.rows()
                                .number("SELECT count(*) FROM carillon.project WHERE project = 'lost-and-found'"))
                        .isEqualTo(1));
    }

    /** Nobody heard that the claim succeeded: the run is held once, can be found, and goes back. */
    private LostAnswer claim() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        return LostAnswer.of(() -> through.runs().claim(mails(node)).attempts(), answer -> {
            assertThat(answer).isEqualTo(List.of());
            heldOnceAndBack(node, id, 1);
            assertThat(claimOne(node).number()).isEqualTo(2);
        });
    }

    private LostAnswer claimLimited() {
        enqueue(Order.mail(), 3);
        storage().lanes().limit(Order.MAIL, Limits.running(2).andRate(1, SECOND));
        UUID node = node();
        return LostAnswer.of(() -> through.lanes().claim(mails(node)).attempts(), answer -> {
            assertThat(answer).isEqualTo(List.of());
            assertThat(storage().runs().held(node)).hasSize(1);
        });
    }

    private LostAnswer breakerOpens() {
        UUID node = node();
        return LostAnswer.of(
                () -> through.lanes().report(node, List.of(new LaneLoad(Order.MAIL, 0, 20))),
                answer -> assertThat(
                                storage().lanes().look(java.time.Instant.MIN).broken())
                        .containsExactly(Order.MAIL));
    }

    private UUID halfOpen() {
        UUID node = node();
        enqueue(Order.mail(), 3);
        storage().lanes().report(node, List.of(new LaneLoad(Order.MAIL, 0, 20)));
        advance(MINUTE);
        return node;
    }

    private LostAnswer probe() {
        UUID node = halfOpen();
        return LostAnswer.of(() -> through.lanes().claim(mails(node)).attempts(), answer -> {
            assertThat(answer).isEqualTo(List.of());
            assertThat(storage().runs().held(node)).hasSize(1);
        });
    }

    private LostAnswer probed() {
        UUID node = halfOpen();
        storage().lanes().claim(mails(node));
        return LostAnswer.of(
                () -> through.lanes().report(node, List.of(new LaneLoad(Order.MAIL, 1, 0))),
                answer -> assertThat(
                                storage().lanes().look(java.time.Instant.MIN).broken())
                        .isEmpty());
    }

    /** {@code taken}: a run without a window lives under the key. */
    private LostAnswer enqueueHeld(boolean taken) {
        Order order = Order.mail().key("k");
        RunId there = taken ? enqueue(order) : RunId.next();
        NewRun run = order.run(taken ? RunId.next() : there).holding(MINUTE);
        return LostAnswer.of(() -> through.inbox().enqueue(List.of(run)), answer -> {
            assertThat(answer)
                    .isEqualTo(
                            List.of(taken ? new EnqueueResult.AlreadyThere(there) : new EnqueueResult.Enqueued(there)));
            assertThat(claim(node(), 9)).hasSize(1);
            assertThat(bench.rows().texts("SELECT key FROM carillon.key_hold")).hasSize(taken ? 0 : 1);
        });
    }

    private LostAnswer weighLane() {
        return LostAnswer.of(
                call(() -> through.lanes().weigh(Order.MAIL, 3)),
                answer -> assertThat(storage().lanes().list(PROJECT))
                        .singleElement()
                        .satisfies(lane -> assertThat(lane.weight()).isEqualTo(3)));
    }

    private LostAnswer limitLane() {
        enqueue(Order.mail(), 3);
        claim(node(), 1);
        return LostAnswer.of(
                call(() -> through.lanes().limit(Order.MAIL, Limits.running(2))),
                answer -> assertThat(storage().lanes().claim(mails(node())).attempts())
                        .hasSize(1));
    }

    private void heldOnceAndBack(UUID node, RunId id, int attempt) {
        List<HeldRun> held = storage().runs().held(node);
        assertThat(held).containsExactly(new HeldRun(PROJECT, id, attempt));
        assertThat(storage().runs().handBackRows(node, held)).isEqualTo(1);
    }

    private LostAnswer claimSuspect() {
        RunId id = suspect();
        UUID node = node();
        return LostAnswer.of(() -> through.runs().claimSuspect(node, Set.of(Order.HANDLER)), answer -> {
            assertThat(answer).isEqualTo(java.util.Optional.empty());
            heldOnceAndBack(node, id, 3);
            assertThat(storage().runs().claimSuspect(node, Set.of(Order.HANDLER)))
                    .isPresent();
        });
    }

    private LostAnswer handBack() {
        Held held = held();
        return LostAnswer.of(() -> through.runs().handBack(held.node(), List.of(held.attempt())), answer -> {
            assertThat(answer).isEqualTo(0);
            once(held.run(), RunState.WAITING);
            assertThat(claimOne(held.node()).number()).isEqualTo(2);
        });
    }

    private LostAnswer parkRunning() {
        Held held = held();
        return LostAnswer.of(call(() -> through.runs().parkRunning(held.node(), List.of(held.attempt()))), answer -> {
            assertThat(get(held.run()).details().parked()).isEqualTo("running");
            assertThat(apply(held.node(), held.attempt(), complete())).isEqualTo(Verdict.ACCEPTED);
        });
    }

    private LostAnswer passOn() {
        RunId id = enqueue(Order.mail().to("nobody.knows"));
        UUID node = node();
        Attempt attempt = claimOne(node);
        return LostAnswer.of(call(() -> through.runs().passOn(node, List.of(attempt))), answer -> {
            once(id, RunState.WAITING);
            assertThat(get(id).details().parked()).isEqualTo("no-handler");
        });
    }
}
