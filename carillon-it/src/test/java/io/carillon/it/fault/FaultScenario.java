package io.carillon.it.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.NodeConfig;
import io.carillon.NodeStatus;
import io.carillon.QueueLimits;
import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.Subscribe;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.internal.engine.Engine;
import io.carillon.internal.engine.EngineParts;
import io.carillon.internal.engine.attempt.BoundHandler;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Gate;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.EventStore;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.store.run.WorkflowSignalStore;
import io.carillon.internal.store.run.WorkflowSignalStore.NewSignal;
import io.carillon.internal.value.Uuid7;
import io.carillon.it.fixture.FaultyStorage;
import io.carillon.run.Enqueue;
import io.carillon.run.Origin;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunInfo;
import io.carillon.spi.RunListener;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** One engine on one database with runs of every kind, while its storage fails in one way. */
final class FaultScenario {
    private static final int QUICK = 120;
    private static final Set<String> CALLED_AT_THE_END =
            Set.of("nodes.retire", "subscription.close", "plans.releaseToken", "plans.releaseClaimToken");
    private static final Payload NOTHING = new Payload("{}".getBytes(StandardCharsets.UTF_8), "json");

    private final PortFaults portFaults;
    private final Set<String> points;
    private final NodeConfig.Planning planning;
    private final Map<RunId, AtomicInteger> calls = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> endingCounts = new ConcurrentHashMap<>();
    private final List<RunId> expectedOnce = new ArrayList<>();
    private final CountDownLatch never = new CountDownLatch(1);
    private final List<String> violations = new ArrayList<>();
    private long published;

    FaultScenario(PortFaults portFaults, Set<String> points, NodeConfig.Planning planning) {
        this.portFaults = portFaults;
        this.points = points;
        this.planning = planning;
    }

    FaultScenario run() throws Exception {
        try (TestDatabase database = TestDatabase.migrated()) {
            DataSource source = database.pool(16);
            try (Storage real = new PostgresStorage(source, TickPlanner.defaults())) {
                Engine engine = new Engine(
                        new EngineParts(
                                FaultyStorage.around(real, portFaults),
                                handlers(),
                                source::getConnection,
                                Listeners.none().withRunListener(new EndingCounter()),
                                TickPlanner.defaults(),
                                new EngineParts.NodeIdentity("faulty", "here", 1, "test")),
                        config());
                // Before the start, because a running engine would claim the orphaned run before the dead node owns it.
                prepare(real, database);
                engine.start();
                try {
                    work(engine, real, database);
                } finally {
                    portFaults.arm(CALLED_AT_THE_END, 1);
                    engine.close();
                }
            }
        }
        return this;
    }

    private void work(Engine engine, Storage real, TestDatabase database) throws Exception {
        portFaults.arm(points, 2);
        RunId unknown = enqueue(real, "default", "unknown");
        for (int i = 0; i < 2; i++) enqueue(real, "default", "unknown");
        for (int i = 0; i < QUICK; i++) expectedOnce.add(enqueue(real, "default", "quick"));
        // In a separate queue.
        for (int i = 0; i < 3; i++) expectedOnce.add(enqueue(real, "flaky", "flaky"));
        for (int i = 0; i < 6; i++) expectedOnce.add(enqueueGated(real));
        for (int i = 0; i < 6; i++) expectedOnce.add(enqueue(real, "narrow", "quick"));
        expectedOnce.add(enqueue(real, "default", "long"));
        expectedOnce.add(enqueue(real, "default", "transactional"));
        RunId stopped = enqueue(real, "default", "endless");
        expectedOnce.add(enqueueAfter(real, stopped));
        // No await takes this signal, so the scans of waits go on. The handler may be a workflow: no node has it.
        NewSignal signal = new NewSignal(
                "default", unknown, UUID.randomUUID(), "mail-77", "approval", new Payload(new byte[] {'1'}, "json"));
        assertThat(real.workflowSignals().send(signal, false)).isEqualTo(WorkflowSignalStore.Sent.STORED);
        await().atMost(Duration.ofSeconds(40)).until(() -> calls.containsKey(stopped));
        real.runAdmin().cancel("default", stopped, "enough");

        // By now every call that these runs cause has failed; only the death of this node is left to test.
        Set<String> expected = new java.util.TreeSet<>(points);
        expected.remove("nodes.register");
        expected.removeAll(CALLED_AT_THE_END);
        // A leader waits for two seconds after each planning failure.
        await().atMost(Duration.ofSeconds(90))
                .pollInterval(Duration.ofSeconds(1))
                .untilAsserted(() -> {
                    // Gives the planner work in every round. Without it, no round may follow a failed one for a minute.
                    database.execute("UPDATE carillon.schedule SET tzdata = '2000a' WHERE name = 'new-year'");
                    publish(real);
                    assertThat(portFaults.failedPoints()).containsAll(expected);
                });
        awaitEnds(database, engine);
        portFaults.arm(Set.of("nodes.register"), 2);
        database.execute(
                "UPDATE carillon.node SET dead_at = carillon.clock(), dead_reason = 'test' WHERE name = 'faulty'");
        await().atMost(Duration.ofSeconds(20))
                .until(() -> portFaults.failedPoints().contains("nodes.register"));
        for (int i = 0; i < 10; i++) expectedOnce.add(enqueue(real, "default", "quick"));
        publish(real);
        portFaults.disarm();
        real.events().resume("default", "noted");
        await().atMost(Duration.ofSeconds(40))
                .until(() -> database.query("SELECT count(*) FROM carillon.run_history WHERE origin = 'event'")
                                .number()
                        >= published);
        awaitEnds(database, engine);
        checkOutcome(database, stopped);
    }

    /** Prepares schedules, a dead node that holds a run, a breaker, and a paused queue that fills the queue head. */
    private void prepare(Storage real, TestDatabase database) {
        real.lanes().pause(new Lane("frozen", "default"), "test", null);
        real.lanes().limit(new Lane("narrow", "default"), QueueLimits.maxRunning(2));
        // A node reports the outcomes of queues with a breaker only. The runs of this queue succeed.
        real.lanes().setBreaker(new Lane("default", "default"), true);
        for (int i = 0; i < 210; i++) enqueue(real, "frozen", "quick");
        subscribe(real, "noted", "order.noted");
        subscribe(real, "replayed", "none");
        upsert(real, "every-second", When.every(Duration.ofSeconds(1)));
        upsert(real, "new-year", When.cron("0 0 1 1 *", "Europe/Paris"));
        RunId orphan = enqueue(real, "orphans", "quick");
        expectedOnce.add(orphan);
        database.execute("INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)"
                + " VALUES ('00000000-0000-7000-8000-000000000001', 'ghost', 'gone', 1, 'dev', 1, '{quick}', 1,"
                + " 'notify');"
                + " UPDATE carillon.run SET owner = '00000000-0000-7000-8000-000000000001', attempt = 1,"
                + " node_deaths = 1"
                + " WHERE queue = 'orphans';"
                + " INSERT INTO carillon.claim_record (node, claim_number, projects, run_ids)"
                + " SELECT owner, 1, ARRAY[project], ARRAY[id] FROM carillon.run WHERE queue = 'orphans'");
    }

    private static void subscribe(Storage real, String name, String type) {
        real.events()
                .declare(new EventStore.Declaration(
                        "default",
                        SubscriptionDefinition.of(
                                name,
                                EventPattern.of("orders", type),
                                new SubscriptionTarget.Handler(name),
                                Subscribe.inOrder()),
                        Subscription.Owner.CODE));
    }

    /** Publishes two events of a key, and creates a replay that ends without finding any. */
    private void publish(Storage real) {
        // Paused at each second call: then the subscription gets a cursor of its own, and loses it later.
        if (!real.events().resume("default", "noted")) real.events().pause("default", "noted", "test");
        List<EventToStore> events = Stream.generate(() -> new EventToStore(
                        "default", new EventId(Uuid7.next()), "orders", "order.noted", "k", false, null, NOTHING))
                .limit(2)
                .toList();
        real.events().publish(events, false);
        published += events.size();
        Instant now = real.clock().now();
        real.events().replay(new EventStore.Replay("default", "replayed", published, now.minusSeconds(5), now));
    }

    private static void upsert(Storage real, String name, When when) {
        real.schedules()
                .upsert(new ScheduleDefinition(
                        "default",
                        name,
                        when,
                        new ScheduleDefinition.RunTemplate("default", 1, "handler", "quick", NOTHING.bytes(), "json"),
                        SchedulePolicies.defaults()));
    }

    private void awaitEnds(TestDatabase database, Engine engine) {
        await().atMost(Duration.ofSeconds(40))
                .pollInterval(Duration.ofMillis(100))
                .untilAsserted(() -> {
                    assertThat(database.query("SELECT count(*) FROM carillon.run WHERE origin IN ('direct', 'event')"
                                            + " AND queue <> 'frozen' AND target_name <> 'unknown'")
                                    .number())
                            .as("%s: runs that have not ended", portFaults)
                            .isZero();
                    assertThat(database.query("SELECT count(*) FROM carillon.run WHERE owner IS NOT NULL"
                                            + " AND target_name = 'unknown'")
                                    .number())
                            .as("%s: runs without a handler that a node holds", portFaults)
                            .isZero();
                    NodeStatus status = engine.status();
                    assertThat(status.loops().values())
                            .as("%s: %s", portFaults, status.loops())
                            .allMatch(NodeStatus.LoopStatus::alive)
                            .noneMatch(NodeStatus.LoopStatus::failing);
                });
    }

    private void checkOutcome(TestDatabase database, RunId stopped) {
        Map<String, Long> states = new HashMap<>();
        for (RunId id : expectedOnce) {
            String state = database.query("SELECT string_agg(state, '+') FROM carillon.run_history" + " WHERE id = '"
                            + id.value() + "'")
                    .text();
            states.merge(state, 1L, Long::sum);
        }
        addIfWrong(!states.equals(Map.of("succeeded", (long) expectedOnce.size())), "ended as " + states);
        addIfWrong(
                !"cancelled"
                        .equals(database.query("SELECT string_agg(state, '+') FROM carillon.run_history"
                                        + " WHERE id = '" + stopped.value()
                                        + "'")
                                .text()),
                "the cancelled run did not end as cancelled");
        addIfWrong(
                database.query("SELECT count(*) FROM carillon.run WHERE target_name = 'unknown'")
                                .number()
                        != 3,
                "runs without a handler are missing");
        addIfWrong(
                database.query("SELECT count(*) FROM (SELECT schedule_id, planned_at FROM carillon.run_history"
                                        + " WHERE origin = 'tick' GROUP BY 1, 2 HAVING count(*) > 1) d")
                                .number()
                        > 0,
                "an instant ran twice");
        addIfWrong(
                database.query("SELECT count(*) FROM carillon.run_history WHERE origin = 'tick'"
                                        + " AND state = 'succeeded'")
                                .number()
                        < 3,
                "fewer than 3 instants ran");
        addIfWrong(
                database.query("SELECT count(DISTINCT key) FROM carillon.run_history WHERE origin = 'event'"
                                                + " AND state = 'succeeded'")
                                        .number()
                                != published
                        || database.query("SELECT count(*) FROM carillon.run_history WHERE origin = 'event'")
                                        .number()
                                != published,
                "an event was not delivered once");
        endingCounts.forEach(
                (attempt, times) -> addIfWrong(times.get() > 1, attempt + " was reported " + times + " times"));
        calls.forEach((run, times) -> addIfWrong(
                expectedOnce.contains(run) && times.get() > 1, run + " was executed " + times + " times without need"));
    }

    private void addIfWrong(boolean bad, String what) {
        if (bad) violations.add(what);
    }

    void check() {
        assertThat(violations).as(portFaults.toString()).isEmpty();
        assertThat(portFaults.failedPoints()).as(portFaults.toString()).containsAll(points);
    }

    private Map<String, BoundHandler> handlers() {
        Map<String, BoundHandler> all = new HashMap<>();
        all.put("noted", handler("noted", false, attempt -> {}));
        all.put("quick", handler("quick", false, attempt -> {}));
        all.put("flaky", handler("flaky", false, attempt -> {
            if (attempt.counts().failures() < 2) {
                calls.remove(attempt.run());
                throw new IllegalStateException("flaky");
            }
        }));
        // Long enough to be parked as long-running.
        all.put("long", handler("long", false, attempt -> never.await(11, TimeUnit.SECONDS)));
        all.put("endless", handler("endless", false, attempt -> never.await()));
        all.put("transactional", handler("transactional", true, attempt -> {
            if (attempt.counts().failures() < 3) calls.remove(attempt.run());
        }));
        return all;
    }

    private interface HandlerCode {
        void run(Attempt attempt) throws Exception;
    }

    private BoundHandler handler(String name, boolean transactional, HandlerCode handlerCode) {
        return new BoundHandler(
                name,
                Duration.ofMinutes(1),
                new RetryRule(Retry.exponential(Duration.ZERO), List.of()),
                transactional,
                (attempt, context, connection) -> {
                    calls.computeIfAbsent(attempt.run(), run -> new AtomicInteger())
                            .incrementAndGet();
                    handlerCode.run(attempt);
                    return Outcome.succeeded(null);
                });
    }

    private static RunId enqueueAfter(Storage real, RunId awaited) {
        return enqueue(
                real,
                "default",
                "quick",
                Enqueue.afterRun(awaited)
                        .onFailure(Enqueue.OnFailure.RUN_ANYWAY)
                        .due());
    }

    private static RunId enqueue(Storage real, String queue, String handler) {
        return enqueue(real, queue, handler, new Enqueue.Due.After(Duration.ZERO));
    }

    private static RunId enqueue(Storage real, String queue, String handler, Enqueue.Due due) {
        NewRun run = new NewRun(
                RunId.generate(),
                new Lane(queue, "default"),
                Priority.NORMAL,
                Origin.DIRECT,
                Target.handler(handler),
                NOTHING,
                due,
                null,
                null,
                null);
        real.newRuns().enqueue(List.of(run));
        return run.id();
    }

    private static RunId enqueueGated(Storage real) {
        NewRun run = new NewRun(
                RunId.generate(),
                new Lane("default", "default"),
                Priority.NORMAL,
                Origin.DIRECT,
                Target.handler("quick"),
                NOTHING,
                new Enqueue.Due.After(Duration.ZERO),
                null,
                null,
                Gate.of(Enqueue.now().fifoKey("line").keyLimit()));
        real.newRuns().enqueue(List.of(run), true);
        return run.id();
    }

    private NodeConfig config() {
        return NodeConfig.defaults()
                .planning(planning)
                .claiming(
                        planning == NodeConfig.Planning.LEADER
                                ? NodeConfig.Claiming.LEADER
                                : NodeConfig.Claiming.EVERY_NODE)
                .concurrency(20)
                .transactionalConcurrency(4)
                .maxClaimSize(50)
                .heartbeat(Duration.ofMillis(300), Duration.ofSeconds(3))
                .pollInterval(Duration.ofMillis(200))
                .planInterval(Duration.ofMillis(300))
                .shutdownTimeout(Duration.ofSeconds(2));
    }

    /** Counts how often listeners are notified of the end of an attempt. */
    private final class EndingCounter implements RunListener {
        @Override
        public void onRunEvent(RunEvent event) {
            if (!(event instanceof RunEvent.AttemptEnded)) return;
            RunInfo run = event.run();
            endingCounts
                    .computeIfAbsent(run.id() + " " + run.attempt(), key -> new AtomicInteger())
                    .incrementAndGet();
        }
    }
}
