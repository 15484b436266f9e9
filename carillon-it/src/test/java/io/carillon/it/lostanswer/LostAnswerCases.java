package io.carillon.it.lostanswer;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.QueueLimits;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.node.HeartbeatResult;
import io.carillon.internal.store.node.NodeRegistration;
import io.carillon.internal.store.node.ProgressUpdate;
import io.carillon.internal.store.run.LaneOutcomes;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.run.CancelResult;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Progress;
import io.carillon.run.RedriveResult;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * For each writing statement about runs, nodes and lanes: a call that sends it, and a check that it took effect once.
 */
final class LostAnswerCases extends LostCases {
    private final DataSource network;
    private final Map<String, Supplier<LostAnswer>> cases;

    LostAnswerCases(PostgresStoreFixture fixture, Storage through, DataSource network) {
        super(fixture, through);
        this.network = network;
        cases = new HashMap<>(cases());
        for (LostCases others : List.of(
                new LostScheduleCases(fixture, through),
                new LostEventCases(fixture, through),
                new LostRelayCases(fixture, through),
                new LostBulkCases(fixture, through),
                new LostLeaseCases(fixture, through),
                new LostGateCases(fixture, through),
                new LostStatsCases(fixture, through),
                new LostWaitCases(fixture, through),
                new LostRescueCases(fixture, through))) cases.putAll(others.cases());
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.ofEntries(
                entry("CancelRequests.END_RELEASED", this::endLetGo),
                entry("RunAdminRepository.CANCEL_RUNNING", this::cancelRunning),
                entry("RunAdminRepository.CANCEL_WAITING", this::cancelWaiting),
                entry("RunAdminRepository.REDRIVE", this::redrive),
                entry("AttemptEndings.RETRY", this::retry),
                entry("AttemptEndings.WAIT", this::waitOfWorkflow),
                entry("AttemptEndings.AWAIT", this::await),
                entry("AttemptEndings.CANCEL", () -> ending(new Transition.Cancel("enough"), RunState.CANCELLED)),
                entry("AttemptEndings.DIE", () -> ending(new Transition.MarkDead("no"), RunState.DEAD)),
                entry(
                        "AttemptEndings.SUCCEED",
                        () -> ending(new Transition.Complete(bytes("\"sent\"")), RunState.SUCCEEDED)),
                entry("AttemptEndings.SUCCEED_IN_PLACE", () -> ending(complete(), RunState.SUCCEEDED)),
                entry("MaintenanceRepository.PURGE_OPEN_ATTEMPTS", this::purge),
                entry("MaintenanceRepository.PURGE_CANCEL_REQUESTS", this::purge),
                entry("MaintenanceRepository.PURGE_DEAD_RUNS", this::purge),
                entry("MaintenanceRepository.PURGE_KEY_WINDOWS", this::purge),
                entry("MaintenanceRepository.PURGE_ATTEMPT_STATS", this::purge),
                entry("MaintenanceRepository.PURGE_NODES", this::purge),
                entry("MaintenanceRepository.PURGE_CLAIM_RECORDS", this::purge),
                entry("MaintenanceRepository.PURGE_PROGRESS", this::purge),
                entry("MaintenanceRepository.PURGE_WORKFLOW_SIGNALS", this::purge),
                entry("MaintenanceRepository.PURGE_RATE_GATES", this::purge),
                entry("MaintenanceRepository.RESERVE_PAGES", this::reservePages),
                entry("NewRunRepository.HOLD_KEYS", () -> enqueueHeld(false)),
                entry("NewRunRepository.INSERT", this::enqueue),
                entry("NewRunRepository.INSERT_AND_NOTIFY", this::enqueueIn),
                entry("NewRunRepository.INSERT_ONE", () -> enqueueOne(false)),
                entry("NewRunRepository.INSERT_ONE_AND_NOTIFY", () -> enqueueOne(true)),
                entry("NewRunRepository.RELEASE_KEYS", () -> enqueueHeld(true)),
                entry("LaneLimits.MARK_RUNNING_AS_LIMITED", this::limitLane),
                entry("LaneLimits.FINISH_RECOUNT", this::claimLimited),
                entry("LaneRepository.LIMIT", this::limitLane),
                entry("LaneRepository.PAUSE", this::pauseLane),
                entry("LaneRepository.SET_BREAKER", this::setLaneBreaker),
                entry("LaneRepository.SET_WEIGHT", this::setLaneWeight),
                entry("LaneBreakers.DELETE_REPORTS", this::breakerOpens),
                entry("LaneBreakers.OPEN_BREAKERS", this::breakerOpens),
                entry("LaneLimits.SAVE_BUCKET", this::claimLimited),
                entry("LaneLimits.MARK_PROBE", this::probe),
                entry("LaneBreakers.DECIDE_PROBES", this::probed),
                entry("LaneBreakers.REPORT", this::breakerOpens),
                entry("LaneLimits.CLAIM_LIMITED", this::claimLimited),
                entry("LaneRepository.RESUME", this::resumeLane),
                entry("NodeRepository.HEARTBEAT", this::heartbeat),
                entry("NodeRepository.DECLARE_DEAD", this::declareDead),
                entry("NodeRepository.PROGRESS", this::progress),
                entry("NodeRepository.REGISTER", this::register),
                entry("NodeRepository.RETIRE", this::retire),
                entry("NodeRepository.UNPARK", this::wake),
                entry("NodeRepository.UNPARK_ALL", this::wakeUnknownHandlers),
                entry("PostgresStorage.ENSURE_PROJECT", this::ensureProject),
                entry("RunRepository.CLAIM", this::claim),
                entry("RunRepository.CLAIM_ISOLATED", this::claimIsolated),
                entry("RunRepository.RECORD_ISOLATION", this::claimIsolated),
                entry("RunRepository.HAND_BACK", this::handBack),
                entry("RunRepository.PARK_RUNNING", this::parkRunning),
                entry("RunRepository.RELEASE_WITHOUT_HANDLER", this::passOn),
                entry("RunCopy.COPY", this::copy));
    }

    LostAnswer of(String name) {
        Supplier<LostAnswer> prepared = cases.get(name);
        if (prepared == null)
            throw new AssertionError("No lost-answer case for the writing statement %s. Add one to %s."
                    .formatted(name, getClass().getSimpleName()));
        return prepared.get();
    }

    Set<String> names() {
        return cases.keySet();
    }

    private LostAnswer endLetGo() {
        ClaimedAttempt held = claimNewRun();
        storage().runAdmin().cancel(PROJECT, held.run(), "enough");
        return LostAnswer.of(
                () -> faultyStorage.runs().handBack(held.node(), List.of(held.attempt())),
                answer -> assertOnce(held.run(), RunState.CANCELLED));
    }

    private LostAnswer cancelRunning() {
        ClaimedAttempt held = claimNewRun();
        return LostAnswer.of(() -> faultyStorage.runAdmin().cancel(PROJECT, held.run(), "enough"), answer -> {
            assertThat(answer).isEqualTo(new CancelResult.Requested());
            assertThat(storage()
                            .nodes()
                            .recordHeartbeat(held.node(), 0, List.of())
                            .cancelRequests())
                    .containsExactly(new HeartbeatResult.CancelRequest(PROJECT, held.run(), "enough"));
        });
    }

    private LostAnswer cancelWaiting() {
        RunId id = enqueue(RunSpec.mail());
        return LostAnswer.of(() -> faultyStorage.runAdmin().cancel(PROJECT, id, "enough"), answer -> {
            assertThat(answer).isEqualTo(new CancelResult.AlreadyEnded(RunState.CANCELLED));
            assertOnce(id, RunState.CANCELLED);
        });
    }

    private LostAnswer redrive() {
        RunId dead = enqueue(RunSpec.mail());
        UUID node = node();
        apply(node, claimOne(node), new Transition.MarkDead("no"));
        return LostAnswer.of(() -> faultyStorage.runAdmin().redrive(PROJECT, List.of(dead)), answer -> {
            assertThat(answer).isEqualTo(List.of(new RedriveResult.NotDead(dead)));
            assertThat(claim(node, 9)).hasSize(1);
        });
    }

    private LostAnswer retry() {
        ClaimedAttempt held = claimNewRun();
        return LostAnswer.of(
                () -> faultyStorage
                        .runs()
                        .apply(
                                held.node(),
                                List.of(ended(held.attempt(), new Transition.Retry(SECOND, "oops", false)))),
                answer -> {
                    assertThat(answer).isEqualTo(List.of(WriteResult.ACCEPTED));
                    assertThat(get(held.run())).returns(1, Run::failures).returns(RunState.WAITING, Run::state);
                    assertThat(storage().runAdmin().attempts(PROJECT, held.run()))
                            .hasSize(1);
                });
    }

    private LostAnswer waitOfWorkflow() {
        ClaimedAttempt held = claimNewRun();
        return LostAnswer.of(
                () -> faultyStorage
                        .runs()
                        .apply(held.node(), List.of(ended(held.attempt(), new Transition.Snooze(SECOND, true)))),
                answer -> {
                    assertThat(answer).isEqualTo(List.of(WriteResult.ACCEPTED));
                    assertThat(get(held.run())).returns(0, Run::failures).returns(RunState.WAITING, Run::state);
                    assertThat(storage().runAdmin().attempts(PROJECT, held.run()))
                            .isEmpty();
                });
    }

    private LostAnswer await() {
        ClaimedAttempt held = claimNewRun();
        return LostAnswer.of(
                () -> faultyStorage
                        .runs()
                        .apply(
                                held.node(),
                                List.of(ended(held.attempt(), new Transition.AwaitCallback(MINUTE, "digest", SECOND)))),
                answer -> {
                    assertThat(answer).isEqualTo(List.of(WriteResult.ACCEPTED));
                    assertOnce(held.run(), RunState.RUNNING);
                    assertThat(fixture.query("SELECT attempt || ' ' || retry_delay_seconds FROM carillon.open_attempt")
                                    .texts())
                            .containsExactly("1 1");
                });
    }

    private LostAnswer ending(Transition transition, RunState state) {
        ClaimedAttempt held = claimNewRun();
        return LostAnswer.of(
                () -> faultyStorage.runs().apply(held.node(), List.of(ended(held.attempt(), transition))), answer -> {
                    assertThat(answer).isEqualTo(List.of(WriteResult.ACCEPTED));
                    assertOnce(held.run(), state);
                    assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all()))
                            .hasSize(state == RunState.DEAD ? 1 : 0);
                });
    }

    /** Stores one row of each kind that is purged and one of each kind that is kept. */
    private LostAnswer purge() {
        UUID gone = node();
        apply(gone, leftOver(gone), new Transition.MarkDead("no"));
        storage().nodes().retire(gone);
        storage().nodes().rescue(3);
        fixture.database().execute("""
                INSERT INTO carillon.unique_key_window SELECT 'default', 'mail', k, gen_random_uuid(), until
                  FROM (VALUES ('old', carillon.clock()), ('new', carillon.clock() + interval '1 year')) AS h(k, until)
                """);
        fixture.database()
                .execute("INSERT INTO carillon.open_attempt VALUES ('default', gen_random_uuid(), 1, gen_random_uuid(),"
                        + " 'digest')");
        fixture.database()
                .execute("INSERT INTO carillon.workflow_step VALUES ('default', gen_random_uuid(), 0, 'charge', 'step',"
                        + " gen_random_uuid(), 1, 0, NULL, NULL, NULL, NULL, carillon.clock())");
        fixture.database()
                .execute("INSERT INTO carillon.workflow_signal VALUES ('default', gen_random_uuid(), 'mail-77',"
                        + " gen_random_uuid(), 'approval', 'json', '1')");
        fixture.database()
                .execute("INSERT INTO carillon.claim_record VALUES (gen_random_uuid(), 1, '{default}',"
                        + " ARRAY[gen_random_uuid()])");
        advance(MINUTE);
        storage().nodes().rescue(3);
        advance(Duration.ofDays(40));
        UUID stays = node();
        Attempt running = leftOver(stays);
        return LostAnswer.of(
                () -> faultyStorage.maintenance().purge(Duration.ofDays(30), Duration.ofHours(1)), answer -> {
                    assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all()))
                            .isEmpty();
                    assertThat(fixture.query("SELECT key FROM carillon.unique_key_window")
                                    .texts())
                            .containsExactly("new");
                    assertThat(fixture.query("SELECT run_id FROM carillon.open_attempt")
                                    .texts())
                            .isEmpty();
                    assertThat(fixture.query("SELECT run_id FROM carillon.workflow_step UNION ALL"
                                            + " SELECT run_id FROM carillon.workflow_signal")
                                    .texts())
                            .isEmpty();
                    assertThat(fixture.query("SELECT run_id FROM carillon.progress")
                                    .texts())
                            .containsExactly(running.run().value().toString());
                    assertThat(fixture.query("SELECT run_id FROM carillon.cancel_request")
                                    .texts())
                            .containsExactly(running.run().value().toString());
                    assertThat(fixture.query("SELECT id FROM carillon.node").texts())
                            .containsExactly(stays.toString());
                    assertThat(fixture.query("SELECT node FROM carillon.claim_record")
                                    .texts())
                            .containsExactly(stays.toString());
                });
    }

    private Attempt leftOver(UUID node) {
        RunId id = enqueue(RunSpec.mail());
        Attempt attempt = claimOne(node);
        storage().nodes().recordHeartbeat(node, 1, List.of(new ProgressUpdate(PROJECT, id, 1, new Progress(1, 2))));
        storage().runAdmin().cancel(PROJECT, id, "enough");
        return attempt;
    }

    private LostAnswer enqueue() {
        List<NewRun> runs =
                List.of(RunSpec.mail().run(), RunSpec.mail().key("k").run());
        return LostAnswer.of(() -> faultyStorage.newRuns().enqueue(runs), answer -> assertStored(runs, answer));
    }

    private LostAnswer reservePages() {
        fixture.database().execute("VACUUM FULL carillon.run");
        return LostAnswer.of(() -> faultyStorage.maintenance().reservePages(), answer -> {
            assertThat(answer).as("the second call reserves pages").isEqualTo(false);
            assertThat(fixture.query("SELECT count(*) FROM carillon.run").number())
                    .isZero();
        });
    }

    /** Enqueues more runs than the newRuns stores with one INSERT. */
    private LostAnswer copy() {
        List<NewRun> runs =
                Stream.generate(() -> RunSpec.mail().run()).limit(2_001).toList();
        return LostAnswer.of(() -> faultyStorage.newRuns().enqueue(runs), answer -> {
            assertThat(answer)
                    .isEqualTo(runs.stream()
                            .map(run -> new EnqueueResult.Enqueued(run.id()))
                            .toList());
            assertThat(fixture.query("SELECT count(*) FROM carillon.run").number())
                    .isEqualTo(runs.size());
        });
    }

    private LostAnswer enqueueOne(boolean notify) {
        NewRun run = RunSpec.mail().key("k").run();
        return LostAnswer.of(() -> faultyStorage.newRuns().enqueue(List.of(run), notify), answer -> {
            assertThat(answer).isEqualTo(List.of(new EnqueueResult.Enqueued(run.id())));
            assertThat(claim(node(), 9)).hasSize(1);
        });
    }

    private LostAnswer enqueueIn() {
        List<NewRun> runs =
                List.of(RunSpec.mail().run(), RunSpec.mail().key("k").run());
        return LostAnswer.of(
                () -> {
                    try (Connection connection = network.getConnection()) {
                        connection.setAutoCommit(false);
                        List<EnqueueResult> results = faultyStorage.newRuns().enqueueIn(connection, runs);
                        connection.commit();
                        connection.setAutoCommit(true);
                        return results;
                    }
                },
                answer -> assertStored(runs, answer));
    }

    private void assertStored(List<NewRun> runs, Object answer) {
        assertThat(answer)
                .isEqualTo(runs.stream()
                        .map(run -> new EnqueueResult.Enqueued(run.id()))
                        .toList());
        assertThat(claim(node(), 9)).hasSize(2);
    }

    private LostAnswer pauseLane() {
        return LostAnswer.of(() -> faultyStorage.lanes().pause(RunSpec.MAIL, "ann", null), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(storage().lanes().list(PROJECT)).hasSize(1);
        });
    }

    private LostAnswer resumeLane() {
        storage().lanes().pause(RunSpec.MAIL, "ann", null);
        enqueue(RunSpec.mail());
        return LostAnswer.of(() -> faultyStorage.lanes().resume(RunSpec.MAIL), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(claim(node(), 9)).hasSize(1);
        });
    }

    private LostAnswer heartbeat() {
        UUID node = node();
        return LostAnswer.of(() -> faultyStorage.nodes().recordHeartbeat(node, 0, List.of()), answer -> {
            assertThat(((HeartbeatResult) answer).alive()).isTrue();
            assertThat(storage().nodes().recordHeartbeat(node(), 0, List.of()).peers())
                    .containsEntry(node, 2L);
        });
    }

    private LostAnswer declareDead() {
        UUID node = node();
        return LostAnswer.of(() -> faultyStorage.nodes().declareDead(node, 0, "silent"), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(storage().nodes().recordHeartbeat(node, 0, List.of()).alive())
                    .isFalse();
            assertThat(storage().nodes().recordHeartbeat(node(), 0, List.of()).rescueDue())
                    .isTrue();
        });
    }

    private LostAnswer progress() {
        ClaimedAttempt held = claimNewRun();
        List<ProgressUpdate> notes = List.of(new ProgressUpdate(PROJECT, held.run(), 1, new Progress(3, 4)));
        return LostAnswer.of(
                () -> faultyStorage.nodes().recordHeartbeat(held.node(), 1, notes),
                answer -> assertThat(get(held.run()).details().progress()).isEqualTo(new Progress(3, 4)));
    }

    private LostAnswer register() {
        NodeRegistration info = new NodeRegistration(
                UUID.randomUUID(), "n", "host", 1, "1", Set.of(RunSpec.HANDLER), Set.of(), 50, "notify");
        return LostAnswer.of(
                call(() -> faultyStorage.nodes().register(info)),
                answer -> assertThat(storage().nodes().list())
                        .singleElement()
                        .satisfies(view -> assertThat(view.info()).isEqualTo(info)));
    }

    private LostAnswer retire() {
        UUID node = node();
        return LostAnswer.of(
                call(() -> faultyStorage.nodes().retire(node)),
                answer -> assertThat(storage()
                                .nodes()
                                .recordHeartbeat(node, 0, List.of())
                                .alive())
                        .isFalse());
    }

    /** Enqueues a run whose handler no node has, and parks it. */
    private RunId enqueueWithoutHandler() {
        UUID withoutHandler = node("other");
        RunId id = enqueue(RunSpec.mail());
        storage().runs().passOn(withoutHandler, claim(withoutHandler, 1));
        return id;
    }

    private LostAnswer wake() {
        RunId id = enqueueWithoutHandler();
        return LostAnswer.of(call(() -> faultyStorage.nodes().wakeParkedRuns(Set.of(RunSpec.HANDLER))), answer -> {
            assertThat(get(id).details().parked()).isNull();
            assertThat(claim(node(RunSpec.HANDLER), 9)).hasSize(1);
        });
    }

    private LostAnswer wakeUnknownHandlers() {
        RunId id = enqueueWithoutHandler();
        NodeRegistration capableNode = new NodeRegistration(
                UUID.randomUUID(), "n", "host", 1, "1", Set.of(RunSpec.HANDLER), Set.of(), 50, "notify");
        return LostAnswer.of(call(() -> faultyStorage.nodes().register(capableNode)), answer -> {
            assertThat(get(id).details().parked()).isNull();
            assertThat(claim(capableNode.id(), 9)).hasSize(1);
        });
    }

    private LostAnswer ensureProject() {
        return LostAnswer.of(
                call(() -> faultyStorage.projects().ensure("lost-and-found")),
                answer -> assertThat(fixture.query(
                                        "SELECT count(*) FROM carillon.project" + " WHERE project = 'lost-and-found'")
                                .number())
                        .isEqualTo(1));
    }

    /**
     * A claim whose answer was lost: the run is held once, is found among the rows of the node, and can be handed back.
     */
    private LostAnswer claim() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        return LostAnswer.of(() -> faultyStorage.runs().claim(claimMails(node)).attempts(), answer -> {
            assertThat(answer).isEqualTo(List.of());
            assertHeldOnceAndHandBack(node, id, 1);
            assertThat(claimOne(node).number()).isEqualTo(2);
        });
    }

    private LostAnswer claimLimited() {
        enqueue(RunSpec.mail(), 3);
        storage().lanes().limit(RunSpec.MAIL, QueueLimits.maxRunning(2).andRate(1, SECOND));
        UUID node = node();
        return LostAnswer.of(() -> faultyStorage.lanes().claim(claimMails(node)).attempts(), answer -> {
            assertThat(answer).isEqualTo(List.of());
            assertThat(storage().runs().ownedRuns(node)).hasSize(1);
        });
    }

    private LostAnswer breakerOpens() {
        UUID node = node();
        return LostAnswer.of(
                () -> faultyStorage.lanes().reportOutcomes(node, List.of(new LaneOutcomes(RunSpec.MAIL, 0, 20, false))),
                answer -> assertThat(storage()
                                .lanes()
                                .readQueueHead(java.time.Instant.MIN)
                                .breakers()
                                .open())
                        .containsExactly(RunSpec.MAIL));
    }

    private UUID halfOpen() {
        UUID node = node();
        enqueue(RunSpec.mail(), 3);
        storage().lanes().reportOutcomes(node, List.of(new LaneOutcomes(RunSpec.MAIL, 0, 20, false)));
        advance(MINUTE);
        return node;
    }

    private LostAnswer probe() {
        UUID node = halfOpen();
        return LostAnswer.of(() -> faultyStorage.lanes().claim(claimMails(node)).attempts(), answer -> {
            assertThat(answer).isEqualTo(List.of());
            assertThat(storage().runs().ownedRuns(node)).hasSize(1);
        });
    }

    private LostAnswer probed() {
        UUID node = halfOpen();
        storage().lanes().claim(claimMails(node));
        return LostAnswer.of(
                () -> faultyStorage.lanes().reportOutcomes(node, List.of(new LaneOutcomes(RunSpec.MAIL, 1, 0, true))),
                answer -> assertThat(storage()
                                .lanes()
                                .readQueueHead(java.time.Instant.MIN)
                                .breakers()
                                .open())
                        .isEmpty());
    }

    /** Enqueues a run with a key window. If {@code taken}, a live run without a window already has the key. */
    private LostAnswer enqueueHeld(boolean taken) {
        RunSpec spec = RunSpec.mail().key("k");
        RunId there = taken ? enqueue(spec) : RunId.generate();
        NewRun run = spec.run(taken ? RunId.generate() : there).withKeyWindow(MINUTE);
        return LostAnswer.of(() -> faultyStorage.newRuns().enqueue(List.of(run)), answer -> {
            assertThat(answer)
                    .isEqualTo(List.of(taken ? new EnqueueResult.Duplicate(there) : new EnqueueResult.Enqueued(there)));
            assertThat(claim(node(), 9)).hasSize(1);
            assertThat(fixture.query("SELECT key FROM carillon.unique_key_window")
                            .texts())
                    .hasSize(taken ? 0 : 1);
        });
    }

    private LostAnswer setLaneBreaker() {
        return LostAnswer.of(
                call(() -> faultyStorage.lanes().setBreaker(RunSpec.MAIL, true)),
                answer -> assertThat(storage().lanes().list(PROJECT))
                        .singleElement()
                        .satisfies(lane -> assertThat(lane.breaker()).isNotNull()));
    }

    private LostAnswer setLaneWeight() {
        return LostAnswer.of(
                call(() -> faultyStorage.lanes().setWeight(RunSpec.MAIL, 3)),
                answer -> assertThat(storage().lanes().list(PROJECT))
                        .singleElement()
                        .satisfies(lane -> assertThat(lane.weight()).isEqualTo(3)));
    }

    private LostAnswer limitLane() {
        enqueue(RunSpec.mail(), 3);
        claim(node(), 1);
        return LostAnswer.of(
                call(() -> faultyStorage.lanes().limit(RunSpec.MAIL, QueueLimits.maxRunning(2))),
                answer -> assertThat(storage().lanes().claim(claimMails(node())).attempts())
                        .hasSize(1));
    }

    private void assertHeldOnceAndHandBack(UUID node, RunId id, int attempt) {
        List<OwnedRun> held = storage().runs().ownedRuns(node);
        assertThat(held).containsExactly(new OwnedRun(PROJECT, id, attempt));
        assertThat(storage().runs().handBackRows(node, held)).isEqualTo(1);
    }

    private LostAnswer claimIsolated() {
        RunId id = isolatedRun();
        UUID node = node();
        return LostAnswer.of(() -> faultyStorage.runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER)), answer -> {
            assertThat(answer).isEqualTo(java.util.Optional.empty());
            assertHeldOnceAndHandBack(node, id, 3);
            assertThat(storage().runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER)))
                    .isPresent();
        });
    }

    private LostAnswer handBack() {
        ClaimedAttempt held = claimNewRun();
        return LostAnswer.of(() -> faultyStorage.runs().handBack(held.node(), List.of(held.attempt())), answer -> {
            assertThat(answer).isEqualTo(0);
            assertOnce(held.run(), RunState.WAITING);
            assertThat(claimOne(held.node()).number()).isEqualTo(2);
        });
    }

    private LostAnswer parkRunning() {
        ClaimedAttempt held = claimNewRun();
        return LostAnswer.of(
                call(() -> faultyStorage.runs().markLongRunning(held.node(), List.of(held.attempt()))), answer -> {
                    assertThat(get(held.run()).details().parked()).isEqualTo("running");
                    assertThat(apply(held.node(), held.attempt(), complete())).isEqualTo(WriteResult.ACCEPTED);
                });
    }

    private LostAnswer passOn() {
        RunId id = enqueue(RunSpec.mail().withHandler("unknown.work"));
        UUID node = node();
        Attempt attempt = claimOne(node);
        return LostAnswer.of(call(() -> faultyStorage.runs().passOn(node, List.of(attempt))), answer -> {
            assertOnce(id, RunState.WAITING);
            assertThat(get(id).details().parked()).isEqualTo("no-handler");
        });
    }
}
