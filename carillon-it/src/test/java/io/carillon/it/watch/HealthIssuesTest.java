package io.carillon.it.watch;

import static io.carillon.it.frontdoor.House.awaitState;
import static io.carillon.it.frontdoor.House.eventually;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.Health;
import io.carillon.HealthIssue;
import io.carillon.it.frontdoor.House;
import io.carillon.it.walls.SourceTree;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.RunState;
import io.carillon.schedule.Missed;
import io.carillon.schedule.When;
import io.carillon.store.Wakeup;
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

/** Each issue of a health check comes when something is wrong and goes when it is not. */
@CarillonTest
class HealthIssuesTest {
    record Job(String name) {}

    /** Makes it wrong, sees the issue come, makes it right, and sees it go. */
    private interface Case {
        void run() throws Exception;
    }

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final HandlerType<Job> FOREIGN = HandlerType.of("job.foreign", Job.class);
    private final House house;

    private final Map<HealthIssue, Case> cases = Map.ofEntries(
            entry(HealthIssue.LOOP_ENDED, this::loopEnded),
            entry(HealthIssue.LOOP_FAILING, this::loopFailing),
            entry(HealthIssue.LISTEN_NOT_PROVEN, this::listenNotProven),
            entry(HealthIssue.CLOCK_OFF, this::clockOff),
            entry(HealthIssue.JIT_THRESHOLD_LOW, this::jit),
            entry(HealthIssue.WORK_NOT_TAKEN, this::workNotTaken),
            entry(HealthIssue.INSTANTS_MISSED, this::instantsMissed),
            entry(HealthIssue.SCHEDULE_MISSES, this::scheduleMisses),
            entry(HealthIssue.RUNS_STALLED, this::runsStalled),
            entry(HealthIssue.POOL_SLOW, this::poolSlow),
            entry(HealthIssue.OLD_TRANSACTION, this::oldTransaction),
            entry(HealthIssue.NODE_SILENT, this::nodeSilent),
            entry(HealthIssue.NO_NODE, this::noNode),
            entry(HealthIssue.BREAKER_OPEN, this::breakerOpen),
            entry(HealthIssue.HANDLER_UNKNOWN, this::handlerUnknown),
            entry(HealthIssue.SCHEDULE_UNREADABLE, this::scheduleUnreadable),
            entry(HealthIssue.TABLES_DO_NOT_FIT, this::tablesDoNotFit),
            entry(HealthIssue.DATABASE_SILENT, this::databaseSilent));

    HealthIssuesTest(TestDatabase database) {
        house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
        house.database().clock().free();
        house.database().execute("DELETE FROM carillon.node");
    }

    @TestFactory
    Stream<DynamicTest> every_issue_comes_and_goes() {
        assertThat(cases.keySet()).containsExactlyInAnyOrder(HealthIssue.values());
        return Stream.of(HealthIssue.values())
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
        assertThat(HealthIssue.values()).allMatch(issue -> page.contains("| `" + issue.name() + "` |"));
    }

    /** No exception ends a loop, so it is ended by force, as if its thread had been killed. */
    private void loopEnded() throws Exception {
        Carillon node = node();
        well(node);

        ((AutoCloseable) field(field(node, "engine"), "planning")).close();
        comes(node, HealthIssue.LOOP_ENDED, "the loop 'plan' has ended: restart this process");

        node.close();
        well(node());
    }

    private void loopFailing() {
        Carillon node = node();

        house.database().execute("ALTER TABLE carillon.cancel_request RENAME TO nowhere");
        comes(node, HealthIssue.LOOP_FAILING, "the loop 'heart' fails");

        house.database().execute("ALTER TABLE carillon.nowhere RENAME TO cancel_request");
        well(node);
    }

    private void listenNotProven() throws Exception {
        // A pool that lends one connection, which is taken: no ear can be opened.
        DataSource one = house.database().pool(1);
        Connection taken = one.getConnection();
        Carillon deaf = house.add(Carillon.on(house.database().pool(8))
                .listenDataSource(one)
                .handle(JOB, (job, run) -> {})
                .start());
        comes(deaf, HealthIssue.LISTEN_NOT_PROVEN, "LISTEN is not proven");

        taken.close();
        well(deaf);
    }

    private void jit() {
        Carillon node = house.node(builder -> builder.config(House.quickBeats()).handle(JOB, (job, run) -> {}));
        String alter = "ALTER DATABASE \"" + house.database().name() + "\" ";

        house.database().execute(alter + "SET jit_above_cost = 1000");
        house.database().terminateSessions();
        comes(node, HealthIssue.JIT_THRESHOLD_LOW, "jit_above_cost is 1000");

        house.database().execute(alter + "RESET jit_above_cost");
        house.database().terminateSessions();
        goes(node, HealthIssue.JIT_THRESHOLD_LOW);
    }

    private void clockOff() {
        Carillon node = house.node(builder -> builder.config(House.quickBeats()).handle(JOB, (job, run) -> {}));

        house.database().clock().advance(Duration.ofMinutes(5));
        comes(node, HealthIssue.CLOCK_OFF, "this machine's clock is off");

        house.database().clock().free();
        goes(node, HealthIssue.CLOCK_OFF);
    }

    private void workNotTaken() {
        Carillon carillon = ticked();
        carillon.enqueue(JOB, new Job("x"));

        house.database().clock().advance(Duration.ofMinutes(10));
        comes(carillon, HealthIssue.WORK_NOT_TAKEN, "could have started 60");

        carillon.tick(Duration.ofSeconds(5));
        well(carillon);
    }

    @Test
    void due_work_of_a_paused_queue_is_no_issue() {
        Carillon carillon = ticked();
        carillon.enqueue(JOB, new Job("x"));
        carillon.queues().pause("job");

        house.database().clock().advance(Duration.ofMinutes(10));

        assertThat(carillon.health().issues()).isEmpty();
    }

    private void instantsMissed() {
        Carillon carillon = missing();
        comes(carillon, HealthIssue.INSTANTS_MISSED, "planned instants were missed within the hour");

        carillon.schedules().delete("rates");
        house.database().clock().advance(Duration.ofMinutes(61));
        goes(carillon, HealthIssue.INSTANTS_MISSED);
    }

    private void scheduleMisses() {
        Carillon carillon = missing();
        comes(carillon, HealthIssue.SCHEDULE_MISSES, "schedule 'rates' misses its instants again and again");

        carillon.schedules().delete("rates");
        goes(carillon, HealthIssue.SCHEDULE_MISSES);
    }

    private void scheduleUnreadable() {
        Carillon carillon = ticked();
        carillon.schedules().upsert("rates", When.every(Duration.ofMinutes(1)), JOB, new Job("x"));
        house.database().execute("UPDATE carillon.schedule SET zone = 'Mars/Olympus'");
        house.database().clock().advance(Duration.ofMinutes(5));
        carillon.tick(Duration.ofSeconds(5));
        comes(carillon, HealthIssue.SCHEDULE_UNREADABLE, "schedule 'default/rates' cannot be planned by this process");

        house.database().execute("UPDATE carillon.schedule SET zone = 'UTC'");
        Carillon restarted = ticked();
        restarted.tick(Duration.ofSeconds(5));
        goes(restarted, HealthIssue.SCHEDULE_UNREADABLE);
        restarted.schedules().delete("rates");
    }

    /** A schedule whose instants of forty minutes nobody started. */
    private Carillon missing() {
        Carillon carillon = ticked();
        carillon.schedules()
                .upsert(
                        "rates",
                        When.every(Duration.ofMinutes(1)),
                        JOB,
                        new Job("x"),
                        options -> options.missed(Missed.SKIP));
        well(carillon);
        house.database().clock().advance(Duration.ofMinutes(40));
        carillon.tick(Duration.ofSeconds(5));
        return carillon;
    }

    private void runsStalled() {
        Carillon carillon = ticked();
        carillon.enqueueAll(JOB, Collections.nCopies(6, new Job("x")));
        house.database()
                .execute(
                        "UPDATE carillon.run SET owner = gen_random_uuid(), attempt = 1, started_at = carillon.clock(),"
                                + " leased_until = carillon.clock() - interval '1 minute'");
        comes(carillon, HealthIssue.RUNS_STALLED, "6 runs are held by nobody alive");

        carillon.tick(Duration.ofSeconds(5));
        well(carillon);
    }

    private void poolSlow() throws Exception {
        DataSource small = house.database().pool(1);
        Carillon carillon = house.add(Carillon.on(small)
                .wakeup(Wakeup.http())
                .handle(JOB, (job, run) -> {})
                .build());
        Connection taken = small.getConnection();
        CompletableFuture<Void> returned = CompletableFuture.runAsync(
                () -> give(taken), CompletableFuture.delayedExecutor(1_300, TimeUnit.MILLISECONDS));
        Health health = carillon.health();
        assertThat(health.kinds()).containsExactly(HealthIssue.POOL_SLOW);
        assertThat(health.issues()).singleElement().asString().contains("the pool took 1");

        returned.join();
        well(carillon);
    }

    private void oldTransaction() throws SQLException {
        Carillon carillon = ticked();
        try (Connection connection = house.database().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT pg_current_xact_id()");
            String pid = house.one(
                    "SELECT pid FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND datname = current_database()");
            house.database().clock().advance(Duration.ofMinutes(10));
            comes(carillon, HealthIssue.OLD_TRANSACTION, "pid " + pid + ", user '");

            connection.rollback();
            connection.setAutoCommit(true);
        }
        well(carillon);
    }

    private void nodeSilent() {
        Carillon node = node();
        well(node);
        house.database()
                .execute(
                        "INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup, beat_at)"
                                + " VALUES (gen_random_uuid(), 'ghost', 'elsewhere', 1, 'dev', 1, '{job}', 1, 'notify', carillon.clock() - interval '2 minutes')");
        comes(node, HealthIssue.NODE_SILENT, "node 'ghost' on elsewhere has not beaten for 12");

        house.database().execute("UPDATE carillon.node SET dead_at = carillon.clock() WHERE name = 'ghost'");
        well(node);
    }

    private void noNode() {
        Carillon client = house.client(builder -> builder);
        comes(client, HealthIssue.NO_NODE, "no node is alive");
        // Where ticks do the work there may be none.
        well(ticked());

        node();
        well(client);
    }

    private void breakerOpen() {
        Carillon node = house.node(builder -> builder.handleReturning(JOB, (job, run) -> Outcome.rejected("no")));
        node.enqueueAll(JOB, Collections.nCopies(30, new Job("x")));
        comes(node, HealthIssue.BREAKER_OPEN, "the breaker of queue 'job' of project 'default' is open");

        node.queues().resume("job");
        goes(node, HealthIssue.BREAKER_OPEN);
    }

    private void handlerUnknown() {
        Carillon node = node();
        var id = node.enqueue(FOREIGN, new Job("x")).run();
        comes(node, HealthIssue.HANDLER_UNKNOWN, "1 runs wait for a handler named 'job.foreign'");

        house.node(builder -> builder.handle(FOREIGN, (job, run) -> {}));
        awaitState(node, id, RunState.SUCCEEDED);
        well(node);
    }

    private void tablesDoNotFit() {
        Carillon carillon = ticked();
        house.database().execute("UPDATE carillon.migration SET checksum = 'x' || checksum WHERE number = 1");
        comes(carillon, HealthIssue.TABLES_DO_NOT_FIT, "the tables do not fit this version");

        house.database().execute("UPDATE carillon.migration SET checksum = substr(checksum, 2) WHERE number = 1");
        well(carillon);
    }

    private void databaseSilent() {
        try (FaultProxy proxy = FaultProxy.before(house.database())) {
            Carillon carillon = house.add(
                    Carillon.on(proxy.dataSource()).wakeup(Wakeup.http()).build());
            proxy.refuse();
            house.database().terminateSessions();
            comes(carillon, HealthIssue.DATABASE_SILENT, "the database does not answer");

            proxy.pass();
            well(carillon);
            carillon.close();
        }
    }

    private Carillon node() {
        return house.node(builder -> builder.handle(JOB, (job, run) -> {}));
    }

    private Carillon ticked() {
        return house.client(builder -> builder.wakeup(Wakeup.http()).handle(JOB, (job, run) -> {}));
    }

    private static void comes(Carillon carillon, HealthIssue issue, String text) {
        Health health = eventually()
                .alias(issue + " comes")
                .until(carillon::health, now -> now.kinds().contains(issue));
        assertThat(health.healthy()).isFalse();
        assertThat(health.issues()).anySatisfy(line -> assertThat(line).contains(text));
    }

    private static void goes(Carillon carillon, HealthIssue issue) {
        eventually()
                .alias(issue + " goes")
                .until(() -> !carillon.health().kinds().contains(issue));
    }

    private static void well(Carillon carillon) {
        List<String> issues = eventually().until(() -> carillon.health().issues(), List::isEmpty);
        assertThat(issues).isEmpty();
        assertThat(carillon.health().healthy()).isTrue();
    }

    private static Object field(Object owner, String name) throws ReflectiveOperationException {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }

    private static void give(Connection connection) {
        try {
            connection.close();
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
