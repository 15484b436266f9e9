package io.carillon.it.observability;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.Health;
import io.carillon.Wakeup;
import io.carillon.event.EventId;
import io.carillon.event.EventType;
import io.carillon.event.PublishResult;
import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import io.carillon.it.architecture.SourceTree;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.RunState;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.FaultProxy;
import io.carillon.testkit.TestDatabase;
import java.lang.reflect.Field;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Each health issue appears when its condition holds and disappears when the condition ends. */
@CarillonTest
class HealthIssuesTest {
    record Job(String name) {}

    /** Causes the issue, waits until it appears, removes the cause, and waits until it disappears. */
    private interface IssueCase {
        void run() throws Exception;
    }

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final HandlerType<Job> FOREIGN = HandlerType.of("job.foreign", Job.class);
    private final ApiFixture fixture;

    private final Map<Health.Kind, IssueCase> cases = Map.ofEntries(
            entry(Health.Kind.LOOP_ENDED, this::loopEnded),
            entry(Health.Kind.LOOP_FAILING, this::loopFailing),
            entry(Health.Kind.LISTEN_NOT_WORKING, this::listenNotWorking),
            entry(Health.Kind.CLOCK_SKEW, this::clockSkew),
            entry(Health.Kind.JIT_THRESHOLD_LOW, this::jit),
            entry(Health.Kind.RUNS_OVERDUE, this::runsOverdue),
            entry(Health.Kind.INSTANTS_MISSED, this::instantsMissed),
            entry(Health.Kind.SCHEDULE_MISSING_INSTANTS, this::scheduleMissingInstants),
            entry(Health.Kind.RUNS_STALLED, this::runsStalled),
            entry(Health.Kind.POOL_SLOW, this::poolSlow),
            entry(Health.Kind.LONG_TRANSACTION, this::longTransaction),
            entry(Health.Kind.NODE_HEARTBEAT_LOST, this::nodeHeartbeatLost),
            entry(Health.Kind.NO_LIVE_NODE, this::noLiveNode),
            entry(Health.Kind.BREAKER_OPEN, this::breakerOpen),
            entry(Health.Kind.HANDLER_UNKNOWN, this::handlerUnknown),
            entry(Health.Kind.SUBSCRIPTION_BEHIND, this::subscriptionBehind),
            entry(Health.Kind.EVENTS_HELD_BACK, this::eventsHeldBack),
            entry(Health.Kind.RELAY_WITHOUT_NODE, this::relayWithoutNode),
            entry(Health.Kind.RELAY_FAILING, this::relayFailing),
            entry(Health.Kind.RELAY_BEHIND, this::relayBehind),
            entry(Health.Kind.EVENTS_REJECTED, this::eventsRejected),
            entry(Health.Kind.SOURCE_BLOCKED, this::sourceBlocked),
            entry(Health.Kind.SCHEDULE_UNREADABLE, this::scheduleUnreadable),
            entry(Health.Kind.SCHEMA_MISMATCH, this::schemaMismatch),
            entry(Health.Kind.DATABASE_UNREACHABLE, this::databaseUnreachable));

    HealthIssuesTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
        fixture.database().clock().useRealTime();
        fixture.database().execute("DELETE FROM carillon.node");
    }

    @TestFactory
    Stream<DynamicTest> every_issue_appears_and_disappears() {
        assertThat(cases.keySet()).containsExactlyInAnyOrder(Health.Kind.values());
        return Stream.of(Health.Kind.values())
                .map(issue -> DynamicTest.dynamicTest(issue.name(), () -> {
                    try {
                        cases.get(issue).run();
                    } finally {
                        close();
                    }
                }));
    }

    @Test
    void the_page_names_every_issue() {
        String page = SourceTree.read(SourceTree.here().root().resolve("docs/observability.md"));
        assertThat(Health.Kind.values()).allMatch(issue -> page.contains("| `" + issue.name() + "` |"));
    }

    /** No exception ends a loop, so the test closes the loop, as if its thread had been killed. */
    private void loopEnded() throws Exception {
        Carillon node = node();
        assertHealthy(node);

        ((AutoCloseable) field(field(field(node, "engine"), "planning"), "loop")).close();
        assertAppears(node, Health.Kind.LOOP_ENDED, "the loop 'plan' has ended: restart this process");

        node.close();
        assertHealthy(node());
    }

    private void loopFailing() {
        Carillon node = node();

        fixture.database().execute("ALTER TABLE carillon.cancel_request RENAME TO nowhere");
        assertAppears(node, Health.Kind.LOOP_FAILING, "the loop 'heartbeat' fails");

        fixture.database().execute("ALTER TABLE carillon.nowhere RENAME TO cancel_request");
        assertHealthy(node);
    }

    private void listenNotWorking() throws Exception {
        // The only connection of this pool is in use, so the node cannot open its LISTEN session.
        DataSource one = fixture.database().pool(1);
        Connection taken = one.getConnection();
        Carillon withoutListen = fixture.add(Carillon.on(fixture.database().pool(8))
                .listenDataSource(one)
                .handle(JOB, (job, run) -> {})
                .start());
        assertAppears(withoutListen, Health.Kind.LISTEN_NOT_WORKING, "LISTEN delivers nothing");

        taken.close();
        assertHealthy(withoutListen);
    }

    private void jit() {
        Carillon node = fixture.node(
                builder -> builder.config(ApiFixture.quickHeartbeats()).handle(JOB, (job, run) -> {}));
        String alter = "ALTER DATABASE \"" + fixture.database().name() + "\" ";

        fixture.database().execute(alter + "SET jit_above_cost = 1000");
        fixture.database().terminateSessions();
        assertAppears(node, Health.Kind.JIT_THRESHOLD_LOW, "jit_above_cost is 1000");

        fixture.database().execute(alter + "RESET jit_above_cost");
        fixture.database().terminateSessions();
        assertDisappears(node, Health.Kind.JIT_THRESHOLD_LOW);
    }

    private void clockSkew() {
        Carillon node = fixture.node(
                builder -> builder.config(ApiFixture.quickHeartbeats()).handle(JOB, (job, run) -> {}));

        fixture.database().clock().advance(Duration.ofMinutes(5));
        assertAppears(node, Health.Kind.CLOCK_SKEW, "the clock of this machine differs");

        fixture.database().clock().useRealTime();
        assertDisappears(node, Health.Kind.CLOCK_SKEW);
    }

    private void runsOverdue() {
        Carillon carillon = clientThatRunsDue();
        carillon.enqueue(JOB, new Job("x"));

        fixture.database().clock().advance(Duration.ofMinutes(10));
        assertAppears(carillon, Health.Kind.RUNS_OVERDUE, "has been waiting for 60");

        carillon.runDue(Duration.ofSeconds(5));
        assertHealthy(carillon);
    }

    @Test
    void due_runs_of_a_paused_queue_are_no_issue() {
        Carillon carillon = clientThatRunsDue();
        carillon.enqueue(JOB, new Job("x"));
        carillon.queues().pause("job");

        fixture.database().clock().advance(Duration.ofMinutes(10));

        assertThat(carillon.health().issues()).isEmpty();
    }

    private void instantsMissed() {
        Carillon carillon = carillonWithMissedInstants();
        assertAppears(carillon, Health.Kind.INSTANTS_MISSED, "planned instants were missed within the last hour");

        carillon.schedules().delete("rates");
        fixture.database().clock().advance(Duration.ofMinutes(61));
        assertDisappears(carillon, Health.Kind.INSTANTS_MISSED);
    }

    private void scheduleMissingInstants() {
        Carillon carillon = carillonWithMissedInstants();
        assertAppears(
                carillon,
                Health.Kind.SCHEDULE_MISSING_INSTANTS,
                "schedule 'rates' repeatedly misses its planned instants");

        carillon.schedules().delete("rates");
        assertDisappears(carillon, Health.Kind.SCHEDULE_MISSING_INSTANTS);
    }

    private static final EventType<String> NOTED = Topic.named("orders").event("order.noted", String.class);

    private Carillon subscriberThatRunsDue() {
        return fixture.client(builder -> builder.wakeup(Wakeup.http())
                .subscribe(
                        "notes",
                        NOTED,
                        (event, run) -> {},
                        Subscribe.inAnyOrder().fromBeginning()));
    }

    private void subscriptionBehind() {
        Carillon carillon = subscriberThatRunsDue();
        carillon.publish(NOTED.of("a"));
        fixture.database().execute("SELECT carillon.store_event_snapshot()");
        assertHealthy(carillon);
        fixture.database().clock().advance(Duration.ofMinutes(6));
        assertAppears(
                carillon,
                Health.Kind.SUBSCRIPTION_BEHIND,
                "subscription 'notes' of project 'default' has not delivered the events since");

        carillon.runDue(Duration.ofSeconds(5));
        assertDisappears(carillon, Health.Kind.SUBSCRIPTION_BEHIND);
    }

    private void eventsHeldBack() {
        Carillon carillon = subscriberThatRunsDue();
        carillon.events().pause("notes", "audit");
        carillon.publish(NOTED.of("a"));
        fixture.database().execute("SELECT carillon.store_event_snapshot()");
        fixture.database().clock().advance(Duration.ofDays(8));
        assertAppears(
                carillon,
                Health.Kind.EVENTS_HELD_BACK,
                "the paused subscription 'notes' of project 'default' keeps events since");

        carillon.events().unsubscribe("notes");
        assertDisappears(carillon, Health.Kind.EVENTS_HELD_BACK);
    }

    /** Stores a relay whose last node has returned its lease. */
    private Carillon withRelay() {
        Carillon carillon = node();
        fixture.database().execute("""
                INSERT INTO carillon.event_relay (project, name, topic, destination, cursor_snapshot, cursor_seq,
                  leased_until)
                VALUES ('default', 'to-kafka', 'orders', 'kafka:orders', 0, 9223372036854775807, carillon.clock())
                """);
        assertHealthy(carillon);
        return carillon;
    }

    private void leaseRelay() {
        fixture.database()
                .execute("UPDATE carillon.event_relay SET owner = gen_random_uuid(),"
                        + " leased_until = carillon.clock() + interval '1 day'");
    }

    private void relayWithoutNode() {
        Carillon carillon = withRelay();
        fixture.database().clock().advance(Duration.ofSeconds(40));
        assertAppears(
                carillon,
                Health.Kind.RELAY_WITHOUT_NODE,
                "relay 'to-kafka' of project 'default' is without a producer on any node: events of the topic "
                        + "'orders'");

        carillon.events().relays().remove("to-kafka");
        assertDisappears(carillon, Health.Kind.RELAY_WITHOUT_NODE);
    }

    private void relayFailing() {
        Carillon carillon = withRelay();
        leaseRelay();
        fixture.database()
                .execute("UPDATE carillon.event_relay SET failing_since = carillon.clock(), error = 'no broker'");
        assertHealthy(carillon);
        fixture.database().clock().advance(Duration.ofSeconds(40));
        assertAppears(carillon, Health.Kind.RELAY_FAILING, "relay 'to-kafka' of project 'default' cannot send since");

        fixture.database().execute("UPDATE carillon.event_relay SET failing_since = NULL, error = NULL");
        assertDisappears(carillon, Health.Kind.RELAY_FAILING);
    }

    private void relayBehind() {
        Carillon carillon = withRelay();
        leaseRelay();
        carillon.publish(NOTED.of("a"));
        fixture.database().execute("SELECT carillon.store_event_snapshot()");
        fixture.database().clock().advance(Duration.ofMinutes(6));
        assertAppears(
                carillon,
                Health.Kind.RELAY_BEHIND,
                "relay 'to-kafka' of project 'default' has not sent the events since");

        fixture.database().execute("UPDATE carillon.event_relay SET cursor_snapshot = 1000000");
        assertDisappears(carillon, Health.Kind.RELAY_BEHIND);
    }

    private void eventsRejected() {
        Carillon carillon = withRelay();
        leaseRelay();
        EventId event = ((PublishResult.Published) carillon.publish(NOTED.of("a"))).id();
        fixture.database().execute("""
                        INSERT INTO carillon.event_relay_held (project, relay, snapshot, seq, event, day, state,
                          blocks, reason)
                        VALUES ('default', 'to-kafka', 1, 1, '%s', '2026-03-02', 'rejected', false, 'too large')
                        """.formatted(event.value()));
        assertAppears(
                carillon,
                Health.Kind.EVENTS_REJECTED,
                "relay 'to-kafka' of project 'default' has events that its destination has rejected");

        carillon.events().relays().skip("to-kafka", event);
        assertDisappears(carillon, Health.Kind.EVENTS_REJECTED);
    }

    private void sourceBlocked() {
        Carillon carillon = node();
        fixture.database().execute("""
                INSERT INTO carillon.event_source (project, name, part, next_position, blocked_at, reason)
                VALUES ('default', 'bank', 'payments-0', 7, carillon.clock(), 'cannot be read')
                """);
        assertAppears(
                carillon,
                Health.Kind.SOURCE_BLOCKED,
                "source 'bank' of project 'default' cannot publish the record at position 7 of payments-0: "
                        + "cannot be read");

        carillon.events().sources().skip("bank", "payments-0", 7);
        assertDisappears(carillon, Health.Kind.SOURCE_BLOCKED);
    }

    private void scheduleUnreadable() {
        Carillon carillon = clientThatRunsDue();
        carillon.schedules().upsert("rates", When.every(Duration.ofMinutes(1)), JOB, new Job("x"));
        fixture.database().execute("UPDATE carillon.schedule SET zone = 'Mars/Olympus'");
        fixture.database().clock().advance(Duration.ofMinutes(5));
        carillon.runDue(Duration.ofSeconds(5));
        assertAppears(
                carillon,
                Health.Kind.SCHEDULE_UNREADABLE,
                "schedule 'default/rates' cannot be planned by this process");

        fixture.database().execute("UPDATE carillon.schedule SET zone = 'UTC'");
        Carillon restarted = clientThatRunsDue();
        restarted.runDue(Duration.ofSeconds(5));
        assertDisappears(restarted, Health.Kind.SCHEDULE_UNREADABLE);
        restarted.schedules().delete("rates");
    }

    /** Returns a client with a schedule that missed its instants of forty minutes. */
    private Carillon carillonWithMissedInstants() {
        Carillon carillon = clientThatRunsDue();
        carillon.schedules()
                .upsert(
                        "rates",
                        When.every(Duration.ofMinutes(1)),
                        JOB,
                        new Job("x"),
                        ScheduleOptions.defaults().missed(MissedPolicy.SKIP));
        assertHealthy(carillon);
        fixture.database().clock().advance(Duration.ofMinutes(40));
        carillon.runDue(Duration.ofSeconds(5));
        return carillon;
    }

    private void runsStalled() {
        Carillon carillon = clientThatRunsDue();
        carillon.enqueueAll(JOB, Collections.nCopies(6, new Job("x")));
        fixture.database()
                .execute(
                        "UPDATE carillon.run SET owner = gen_random_uuid(), attempt = 1, started_at = carillon.clock(),"
                                + " leased_until = carillon.clock() - interval '1 minute'");
        assertAppears(carillon, Health.Kind.RUNS_STALLED, "6 runs have a lease that ended or a node that is not alive");

        carillon.runDue(Duration.ofSeconds(5));
        assertHealthy(carillon);
    }

    private void poolSlow() throws Exception {
        DataSource small = fixture.database().pool(1);
        Carillon carillon = fixture.add(Carillon.on(small)
                .wakeup(Wakeup.http())
                .handle(JOB, (job, run) -> {})
                .build());
        Connection taken = small.getConnection();
        CompletableFuture<Void> returned = CompletableFuture.runAsync(
                () -> returnConnection(taken), CompletableFuture.delayedExecutor(1_300, TimeUnit.MILLISECONDS));
        Health health = carillon.health();
        assertThat(health.kinds()).containsExactly(Health.Kind.POOL_SLOW);
        assertThat(health.issues())
                .singleElement()
                .satisfies(issue -> assertThat(issue.text()).contains("the pool took 1"));

        returned.join();
        assertHealthy(carillon);
    }

    private void longTransaction() throws SQLException {
        Carillon carillon = clientThatRunsDue();
        try (Connection connection = fixture.database().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT pg_current_xact_id()");
            String pid = fixture.query("SELECT pid FROM pg_stat_activity WHERE backend_xid IS NOT NULL"
                            + " AND datname = current_database() AND backend_type = 'client backend'")
                    .text();
            fixture.database().clock().advance(Duration.ofMinutes(10));
            assertAppears(carillon, Health.Kind.LONG_TRANSACTION, "pid " + pid + ", user '");

            connection.rollback();
            connection.setAutoCommit(true);
        }
        assertHealthy(carillon);
    }

    private void nodeHeartbeatLost() {
        Carillon node = node();
        assertHealthy(node);
        fixture.database()
                .execute("INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup,"
                        + " heartbeat_at)"
                        + " VALUES (gen_random_uuid(), 'ghost', 'elsewhere', 1, 'dev', 1, '{job}', 1, 'notify',"
                        + " carillon.clock() - interval '2 minutes')");
        assertAppears(node, Health.Kind.NODE_HEARTBEAT_LOST, "node 'ghost' on elsewhere has sent no heartbeat for 12");

        fixture.database().execute("UPDATE carillon.node SET dead_at = carillon.clock() WHERE name = 'ghost'");
        assertHealthy(node);
    }

    private void noLiveNode() {
        Carillon client = fixture.client(builder -> builder);
        assertAppears(client, Health.Kind.NO_LIVE_NODE, "no node is alive");
        // Clients that call runDue need no live node.
        assertHealthy(clientThatRunsDue());

        node();
        assertHealthy(client);
    }

    private void breakerOpen() {
        fixture.client(builder -> builder).queues().breaker("job", true);
        Carillon node = fixture.node(builder -> builder.handleReturning(JOB, (job, run) -> Outcome.rejected("no")));
        node.enqueueAll(JOB, Collections.nCopies(30, new Job("x")));
        assertAppears(node, Health.Kind.BREAKER_OPEN, "the breaker of queue 'job' of project 'default' is open");

        node.queues().resume("job");
        assertDisappears(node, Health.Kind.BREAKER_OPEN);
    }

    private void handlerUnknown() {
        Carillon node = node();
        var id = node.enqueue(FOREIGN, new Job("x")).run();
        assertAppears(node, Health.Kind.HANDLER_UNKNOWN, "1 run waits for the handler 'job.foreign'");

        fixture.node(builder -> builder.handle(FOREIGN, (job, run) -> {}));
        awaitState(node, id, RunState.SUCCEEDED);
        assertHealthy(node);
    }

    private void schemaMismatch() {
        Carillon carillon = clientThatRunsDue();
        fixture.database().execute("UPDATE carillon.migration SET checksum = 'x' || checksum WHERE number = 1");
        assertAppears(carillon, Health.Kind.SCHEMA_MISMATCH, "the database schema does not match this version");

        fixture.database().execute("UPDATE carillon.migration SET checksum = substr(checksum, 2) WHERE number = 1");
        assertHealthy(carillon);
    }

    private void databaseUnreachable() {
        try (FaultProxy proxy = FaultProxy.inFrontOf(fixture.database())) {
            Carillon carillon = fixture.add(
                    Carillon.on(proxy.dataSource()).wakeup(Wakeup.http()).build());
            proxy.refuseConnections();
            fixture.database().terminateSessions();
            assertAppears(carillon, Health.Kind.DATABASE_UNREACHABLE, "the database does not respond");

            proxy.restore();
            assertHealthy(carillon);
            carillon.close();
        }
    }

    private Carillon node() {
        return fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
    }

    private Carillon clientThatRunsDue() {
        return fixture.client(builder -> builder.wakeup(Wakeup.http()).handle(JOB, (job, run) -> {}));
    }

    private static void assertAppears(Carillon carillon, Health.Kind kind, String text) {
        Health health = eventually()
                .alias(kind + " appears")
                .until(carillon::health, now -> now.kinds().contains(kind));
        assertThat(health.healthy()).isFalse();
        assertThat(health.issues()).anySatisfy(issue -> {
            assertThat(issue.kind()).isEqualTo(kind);
            assertThat(issue.text()).contains(text);
        });
    }

    private static void assertDisappears(Carillon carillon, Health.Kind kind) {
        eventually()
                .alias(kind + " disappears")
                .until(() -> !carillon.health().kinds().contains(kind));
    }

    private static void assertHealthy(Carillon carillon) {
        List<Health.Issue> issues = eventually().until(() -> carillon.health().issues(), List::isEmpty);
        assertThat(issues).isEmpty();
        assertThat(carillon.health().healthy()).isTrue();
    }

    private static Object field(Object owner, String name) throws ReflectiveOperationException {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }

    private static void returnConnection(Connection connection) {
        try {
            connection.close();
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
