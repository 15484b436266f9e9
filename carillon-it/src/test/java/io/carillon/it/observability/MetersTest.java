package io.carillon.it.observability;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.NodeConfig;
import io.carillon.Wakeup;
import io.carillon.event.EventType;
import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.micrometer.CarillonMeters;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Statistic;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Every meter changes with the value that it measures: each shows at least two values, except the build info. */
@CarillonTest
class MetersTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final ApiFixture fixture;
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final CarillonMeters meters = new CarillonMeters(registry);

    /** The meters without a text for HELP. */
    private final Set<String> withoutHelp = new TreeSet<>();

    /** The values that each meter has shown. */
    private final Map<String, Set<Double>> shown = new TreeMap<>();

    MetersTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
        fixture.database().clock().useRealTime();
        fixture.database().execute("DELETE FROM carillon.node; DELETE FROM carillon.leader_token");
    }

    private interface Scenario {
        void run() throws Exception;
    }

    @TestFactory
    Stream<DynamicTest> every_meter_changes() {
        return Stream.of(
                of("attempts are counted and timed", this::attempts_are_counted_and_timed),
                of("queues", this::queues_show_due_and_running_runs_and_the_longest_wait),
                of("subscriptions", this::subscriptions_show_their_lag),
                of("relays", this::relays_show_their_lag_and_rejections),
                of("schedules", this::schedules_show_next_run_lateness_and_missed_instants),
                of("a node", this::a_node_shows_leadership_listening_and_queue_head_reads),
                of("recoveries", this::recoveries_are_counted),
                of("obstacles", this::obstacles_are_shown),
                of("all meters changed", this::all_meters_changed));
    }

    private DynamicTest of(String name, Scenario scenario) {
        return DynamicTest.dynamicTest(name, () -> {
            try {
                scenario.run();
            } finally {
                close();
            }
        });
    }

    private void all_meters_changed() {
        Set<String> meters = MeterNamesTest.meters();
        assertThat(shown.keySet()).isEqualTo(meters);
        assertThat(withoutHelp).isEmpty();
        assertThat(meters).filteredOn(name -> shown.get(name).size() < 2).containsExactly("carillon.build.info");
    }

    private void attempts_are_counted_and_timed() {
        Carillon node = fixture.node(builder -> builder.listener(meters)
                .handleReturning(
                        JOB,
                        (job, run) -> {
                            if (job.name().equals("bad")) return Outcome.rejected("bad");
                            if (job.name().equals("later") && run.attempt() == 1)
                                throw new IllegalStateException("later");
                            return null;
                        },
                        HandlerOptions.defaults().queue("mail").retry(Retry.exponential(Duration.ofMillis(1)))));

        for (String name :
                List.of("carillon.runs.finished", "carillon.attempt.retries", "carillon.run", "carillon.run.wait"))
            assertThat(value(registry, name)).isZero();

        awaitState(node, node.enqueue(JOB, new Job("good")).run(), RunState.SUCCEEDED);
        awaitState(node, node.enqueue(JOB, new Job("later")).run(), RunState.SUCCEEDED);
        awaitState(node, node.enqueue(JOB, new Job("bad")).run(), RunState.DEAD);

        eventually().until(() -> value(registry, "carillon.runs.finished", "outcome", "dead") == 1);
        eventually().until(() -> value(registry, "carillon.runs.finished", "outcome", "succeeded") == 2);
        assertThat(value(registry, "carillon.attempt.retries", "queue", "mail")).isOne();
        assertThat(value(registry, "carillon.run", "type", "job")).isEqualTo(4);
        assertThat(value(registry, "carillon.run.wait", "type", "job")).isEqualTo(3);
        assertThat(value(registry, "carillon.runs.finished", "project", "default"))
                .isEqualTo(3);
        node.project("acme").enqueue(JOB, new Job("good"));
        eventually().until(() -> value(registry, "carillon.runs.finished", "project", "acme") == 1);
        for (String name : List.of("carillon.run", "carillon.run.wait"))
            assertThat(value(registry, name, "project", "acme", "queue", "mail"))
                    .isOne();
    }

    private void queues_show_due_and_running_runs_and_the_longest_wait() {
        Carillon client = clientThatRunsDue();
        assertThat(gauge(client, "carillon.runs")).isZero();
        assertThat(gauge(client, "carillon.queue.oldest.due")).isZero();
        assertThat(gauge(client, "carillon.node.slots")).isZero();
        client.enqueue(JOB, new Job("x"));
        fixture.database().clock().advance(Duration.ofMinutes(2));

        assertThat(gauge(client, "carillon.runs", "state", "due")).isOne();
        assertThat(gauge(client, "carillon.queue.oldest.due", "queue", "job")).isBetween(120.0, 150.0);

        CountDownLatch finish = new CountDownLatch(1);
        Carillon node = fixture.node(builder -> builder.handle(JOB, (job, run) -> finish.await()));
        eventually().until(() -> gauge(node, "carillon.runs", "state", "running") == 1);
        eventually().until(() -> gauge(node, "carillon.node.slots", "state", "busy") == 1);
        assertThat(gauge(node, "carillon.node.slots", "state", "free")).isGreaterThan(1);
        finish.countDown();
    }

    private void subscriptions_show_their_lag() {
        EventType<String> noted = Topic.named("orders").event("order.noted", String.class);
        Carillon client = fixture.client(
                builder -> builder.listener(meters).subscribe("notes", noted, (event, run) -> {}, Subscribe.inOrder()));
        assertThat(gauge(client, "carillon.subscription.lag")).isZero();
        client.publish(noted.of("a"));
        fixture.database().execute("SELECT carillon.store_event_snapshot()");

        assertThat(gauge(client, "carillon.subscription.lag", "subscription", "notes"))
                .isOne();
    }

    private void relays_show_their_lag_and_rejections() {
        EventType<String> noted = Topic.named("orders").event("order.noted", String.class);
        Carillon client = fixture.client(builder -> builder.listener(meters));
        fixture.database().execute("""
                INSERT INTO carillon.event_relay (project, name, topic, destination, cursor_snapshot, cursor_seq)
                VALUES ('default', 'to-kafka', 'orders', 'kafka:orders', 0, 9223372036854775807)
                """);
        for (String name : List.of("carillon.relay.lag", "carillon.relay.oldest", "carillon.relay.rejected"))
            assertThat(gauge(client, name)).isZero();
        client.publish(noted.of("a"));
        fixture.database().execute("SELECT carillon.store_event_snapshot()");
        fixture.database()
                .execute("INSERT INTO carillon.event_relay_held (project, relay, snapshot, seq, event, day, state,"
                        + " blocks) VALUES ('default', 'to-kafka', 1, 1, gen_random_uuid(), '2026-03-02',"
                        + " 'rejected', false)");
        fixture.database().clock().advance(Duration.ofSeconds(40));

        assertThat(gauge(client, "carillon.relay.lag", "relay", "to-kafka")).isOne();
        assertThat(gauge(client, "carillon.relay.oldest", "relay", "to-kafka")).isGreaterThanOrEqualTo(39);
        assertThat(gauge(client, "carillon.relay.rejected", "relay", "to-kafka"))
                .isOne();
    }

    private void schedules_show_next_run_lateness_and_missed_instants() {
        Carillon carillon = fixture.client(
                builder -> builder.wakeup(Wakeup.http()).listener(meters).handle(JOB, (job, run) -> {}));
        for (String name : List.of(
                "carillon.schedules",
                "carillon.schedules.active",
                "carillon.schedule.lag",
                "carillon.schedule.next.run.timestamp",
                "carillon.schedule.last.success.timestamp"))
            assertThat(gauge(carillon, name)).isZero();
        assertThat(value(registry, "carillon.ticks.planned")).isZero();
        assertThat(value(registry, "carillon.schedule.missed")).isZero();
        assertThat(value(registry, "carillon.tick.lateness")).isZero();
        carillon.schedules()
                .upsert(
                        "rates",
                        When.every(Duration.ofMinutes(1)),
                        JOB,
                        new Job("x"),
                        ScheduleOptions.defaults().missed(MissedPolicy.SKIP));
        assertThat(gauge(carillon, "carillon.schedules")).isOne();
        assertThat(gauge(carillon, "carillon.schedules.active")).isOne();
        assertThat(gauge(carillon, "carillon.schedule.next.run.timestamp", "schedule", "rates"))
                .isPositive();

        // Ticks are planned up to three minutes ahead, so only a later round certainly plans.
        fixture.database().clock().advance(Duration.ofMinutes(3));
        assertThat(gauge(carillon, "carillon.schedule.lag", "schedule", "rates"))
                .isGreaterThan(30);
        carillon.runDue(Duration.ofSeconds(5));
        assertThat(gauge(carillon, "carillon.schedule.last.success.timestamp", "schedule", "rates"))
                .isPositive();
        assertThat(value(registry, "carillon.ticks.planned")).isPositive();
        assertThat(value(registry, "carillon.tick.lateness", "type", "job")).isPositive();

        fixture.database().clock().advance(Duration.ofMinutes(40));
        carillon.runDue(Duration.ofSeconds(5));
        assertThat(value(registry, "carillon.schedule.missed", "policy", "skip"))
                .isGreaterThan(20);

        assertThat(gauge(carillon, "carillon.schedule.next.run.timestamp")).isPositive();
        carillon.schedules().pause("rates");
        assertThat(gauge(carillon, "carillon.schedules.active")).isZero();
        assertThat(gauge(carillon, "carillon.schedule.next.run.timestamp")).isZero();
    }

    private void a_node_shows_leadership_listening_and_queue_head_reads() {
        Carillon client = clientThatRunsDue();
        for (String name : List.of("carillon.leader", "carillon.listening", "carillon.db.poll"))
            assertThat(gauge(client, name)).isZero();
        Carillon node = fixture.node(
                builder -> builder.planning(NodeConfig.Planning.LEADER).handle(JOB, (job, run) -> {}));

        eventually().until(() -> gauge(node, "carillon.leader") == 1);
        assertThat(registryOf(client).find("carillon.leader").meters()).isEmpty();
        Carillon withoutLeader = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        assertThat(registryOf(withoutLeader).find("carillon.leader").meters())
                .as("an alert about a missing leader must not fire here")
                .isEmpty();
        eventually().until(() -> gauge(node, "carillon.listening") == 1);
        assertThat(gauge(node, "carillon.db.poll")).isPositive();
        assertThat(gauge(node, "carillon.build.info")).isOne();
    }

    private void recoveries_are_counted() {
        fixture.database()
                .execute("INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)"
                        + " VALUES ('00000000-0000-0000-0000-000000000001', 'ghost', 'elsewhere', 1, 'dev', 1,"
                        + " '{job}', 1, 'notify')");
        Carillon client = clientThatRunsDue();
        assertThat(gauge(client, "carillon.lease.expired")).isZero();
        assertThat(gauge(client, "carillon.rescue.failures")).isZero();
        assertThat(gauge(client, "carillon.nodes.died")).isZero();
        RunId id = client.enqueue(JOB, new Job("x")).run();
        fixture.database()
                .execute("UPDATE carillon.run SET owner = '00000000-0000-0000-0000-000000000001', attempt = 1,"
                        + " started_at = carillon.clock()");
        fixture.database()
                .execute("INSERT INTO carillon.claim_record (node, claim_number, projects, run_ids)"
                        + " SELECT owner, 1, ARRAY[project], ARRAY[id] FROM carillon.run");
        NodeConfig quick = NodeConfig.defaults().heartbeat(Duration.ofMillis(100), Duration.ofMillis(500));
        fixture.database()
                .execute("CREATE FUNCTION public.broken() RETURNS trigger LANGUAGE plpgsql"
                        + " AS $$ BEGIN RAISE EXCEPTION 'broken page'; END $$;"
                        + " CREATE TRIGGER broken BEFORE INSERT OR UPDATE ON carillon.attempt"
                        + " FOR EACH ROW EXECUTE FUNCTION public.broken()");

        Carillon node;
        try {
            node = fixture.node(builder -> builder.config(quick).handle(JOB, (job, run) -> {}));
            eventually().until(() -> gauge(node, "carillon.rescue.failures") > 0);
            assertThat(gauge(node, "carillon.lease.expired")).isZero();
        } finally {
            fixture.database().execute("DROP TRIGGER broken ON carillon.attempt; DROP FUNCTION public.broken()");
        }
        awaitState(node, id, RunState.SUCCEEDED);

        eventually().until(() -> gauge(node, "carillon.lease.expired") == 1);
        eventually().until(() -> gauge(node, "carillon.nodes.died") > 0);
    }

    private void obstacles_are_shown() throws SQLException {
        Carillon carillon = clientThatRunsDue();
        carillon.enqueue(JOB, new Job("x"));
        assertThat(gauge(carillon, "carillon.runs.stalled")).isZero();
        assertThat(gauge(carillon, "carillon.database.oldest.transaction")).isLessThan(300);
        fixture.database()
                .execute(
                        "UPDATE carillon.run SET owner = gen_random_uuid(), attempt = 1, started_at = carillon.clock(),"
                                + " leased_until = carillon.clock() - interval '1 minute'");
        assertThat(gauge(carillon, "carillon.health.issues")).isZero();
        assertThat(gauge(carillon, "carillon.health.issues", "kind", "breaker-open"))
                .isZero();
        fixture.database()
                .execute("INSERT INTO carillon.lane (queue, project, breaker) VALUES ('partner', 'default', 'open')");

        try (Connection connection = fixture.database().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT pg_current_xact_id()");
            fixture.database().clock().advance(Duration.ofMinutes(10));

            assertThat(gauge(carillon, "carillon.runs.stalled")).isOne();
            assertThat(gauge(carillon, "carillon.database.oldest.transaction")).isGreaterThan(600);
            assertThat(gauge(carillon, "carillon.health.issues")).isPositive();
            assertThat(gauge(carillon, "carillon.health.issues", "kind", "breaker-open"))
                    .isOne();
            assertThat(gauge(carillon, "carillon.health.issues", "kind", "long-transaction"))
                    .isOne();
            assertThat(gauge(carillon, "carillon.health.issues", "kind", "no-live-node"))
                    .isZero();
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    private Carillon clientThatRunsDue() {
        return fixture.client(builder -> builder.wakeup(Wakeup.http()).handle(JOB, (job, run) -> {}));
    }

    /** Reads a gauge from a new registry, because a registry caches the last snapshot. */
    private double gauge(Carillon carillon, String name, String... tags) {
        return value(registryOf(carillon), name, tags);
    }

    private static SimpleMeterRegistry registryOf(Carillon carillon) {
        SimpleMeterRegistry fresh = new SimpleMeterRegistry();
        new CarillonMeters(fresh).watch(carillon);
        fresh.get("carillon.schedules").gauge().value();
        return fresh;
    }

    /** Returns the sum of all meters with this name and these tags; 0 if none exists yet. */
    private double value(SimpleMeterRegistry registry, String name, String... tags) {
        for (Meter meter : registry.find(name).meters())
            if (meter.getId().getDescription() == null) withoutHelp.add(name);
        double value = registry.find(name).tags(tags).meters().stream()
                .mapToDouble(MetersTest::value)
                .sum();
        shown.computeIfAbsent(name, first -> new TreeSet<>()).add(value);
        return value;
    }

    private static double value(Meter meter) {
        return StreamSupport.stream(meter.measure().spliterator(), false)
                .filter(one -> one.getStatistic() == Statistic.COUNT || one.getStatistic() == Statistic.VALUE)
                .mapToDouble(one -> one.getValue())
                .sum();
    }
}
