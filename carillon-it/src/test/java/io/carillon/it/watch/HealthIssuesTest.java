package io.carillon.it.watch;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.engine.EngineConfig;
import io.carillon.it.frontdoor.House;
import io.carillon.run.HandlerType;
import io.carillon.schedule.Missed;
import io.carillon.schedule.When;
import io.carillon.store.Wakeup;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Each issue of a health check comes when something is wrong and goes when it is not. */
@CarillonTest
class HealthIssuesTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final House house;

    HealthIssuesTest(TestDatabase database) {
        house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
        house.database().clock().free();
        house.database().execute("DELETE FROM carillon.node");
    }

    @Test
    void without_a_node_ticks_are_enough_where_that_is_the_mode() {
        assertThat(ticked().health().issues()).isEmpty();
        assertThat(house.client(builder -> builder).health().issues())
                .singleElement()
                .asString()
                .contains("no node");
    }

    @Test
    void a_loop_that_fails_again_and_again() {
        Carillon node = house.node(builder -> builder.handle(JOB, (job, run) -> {}));

        house.database().execute("ALTER TABLE carillon.cancel_request RENAME TO nowhere");
        appears(node, "the loop 'heart' fails");

        house.database().execute("ALTER TABLE carillon.nowhere RENAME TO cancel_request");
        goes(node, "the loop 'heart' fails");
    }

    @Test
    void a_clock_that_is_off() {
        Carillon node = house.node(builder -> builder.config(House.quickBeats()).handle(JOB, (job, run) -> {}));

        house.database().clock().advance(Duration.ofMinutes(5));
        appears(node, "this machine's clock is off");

        house.database().clock().free();
        goes(node, "this machine's clock is off");
    }

    @Test
    void due_work_that_nobody_takes() {
        Carillon carillon = ticked();
        carillon.enqueue(JOB, new Job("x"));

        house.database().clock().advance(Duration.ofMinutes(10));
        appears(carillon, "could have started 60");

        carillon.tick(Duration.ofSeconds(5));
        assertThat(carillon.health().issues()).isEmpty();
    }

    @Test
    void due_work_of_a_paused_queue_is_no_issue() {
        Carillon carillon = ticked();
        carillon.enqueue(JOB, new Job("x"));
        carillon.queues().pause("default");

        house.database().clock().advance(Duration.ofMinutes(10));

        assertThat(carillon.health().issues()).isEmpty();
    }

    @Test
    void instants_that_are_missed_again_and_again_with_the_schedule_that_misses_them() {
        Carillon carillon = ticked();
        carillon.schedules()
                .upsert(
                        "rates",
                        When.every(Duration.ofMinutes(1)),
                        JOB,
                        new Job("x"),
                        options -> options.missed(Missed.SKIP));
        house.database().clock().advance(Duration.ofMinutes(40));

        carillon.tick(Duration.ofSeconds(5));

        appears(carillon, "planned instants were missed within the hour");
        appears(carillon, "schedule 'rates' misses its instants again and again");
        carillon.schedules().delete("rates");
        goes(carillon, "schedule 'rates'");
        house.database().clock().advance(Duration.ofMinutes(61));
        goes(carillon, "missed");
    }

    @Test
    void runs_that_are_held_by_nobody() {
        Carillon carillon = ticked();
        carillon.enqueueAll(JOB, java.util.Collections.nCopies(6, new Job("x")));
        house.database()
                .execute(
                        "UPDATE carillon.run SET owner = gen_random_uuid(), attempt = 1, started_at = carillon.clock(),"
                                + " leased_until = carillon.clock() - interval '1 minute'");

        appears(carillon, "6 runs are held by nobody alive");

        carillon.tick(Duration.ofSeconds(5));
        goes(carillon, "held by nobody");
    }

    @Test
    void a_pool_that_has_nothing_left_to_lend() throws Exception {
        DataSource small = house.database().pool(1);
        Carillon carillon = house.add(Carillon.on(small)
                .wakeup(Wakeup.http())
                .handle(JOB, (job, run) -> {})
                .build());
        Connection taken = small.getConnection();
        CompletableFuture<Void> returned = CompletableFuture.runAsync(
                () -> give(taken), CompletableFuture.delayedExecutor(1_300, TimeUnit.MILLISECONDS));

        assertThat(carillon.health().issues()).singleElement().asString().contains("the pool took 1");

        returned.join();
        assertThat(carillon.health().issues()).isEmpty();
    }

    @Test
    void an_old_transaction_that_keeps_vacuum_from_its_work_and_which() throws SQLException {
        Carillon carillon = ticked();
        try (Connection connection = house.database().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT pg_current_xact_id()");
            String pid = house.one(
                    "SELECT pid FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND datname = current_database()");
            house.database().clock().advance(Duration.ofMinutes(10));

            appears(carillon, "pid " + pid + ", user '");

            connection.rollback();
            connection.setAutoCommit(true);
        }
        goes(carillon, "keeps vacuum from its work");
    }

    @Test
    void tables_that_do_not_fit() {
        Carillon carillon = ticked();

        house.database().execute("UPDATE carillon.migration SET checksum = 'x' || checksum WHERE number = 1");
        appears(carillon, "the tables do not fit this version");

        house.database().execute("UPDATE carillon.migration SET checksum = substr(checksum, 2) WHERE number = 1");
        goes(carillon, "do not fit");
    }

    @Test
    void recoveries_are_counted() {
        house.database()
                .execute(
                        "INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)"
                                + " VALUES ('00000000-0000-0000-0000-000000000001', 'ghost', 'elsewhere', 1, 'dev', 1, '{job}', 1, 'notify')");
        Carillon client = ticked();
        client.enqueue(JOB, new Job("x"));
        house.database()
                .execute(
                        "UPDATE carillon.run SET owner = '00000000-0000-0000-0000-000000000001', attempt = 1, started_at = carillon.clock()");
        EngineConfig quick =
                House.quickBeats().with(new EngineConfig.Heartbeat(Duration.ofMillis(100), Duration.ofMillis(500)));

        Carillon node = house.node(builder -> builder.config(quick).handle(JOB, (job, run) -> {}));

        eventually().until(() -> node.status().orElseThrow().counts().rescued() == 1);
        assertThat(node.status().orElseThrow().counts().deadNodes()).isPositive();
    }

    private Carillon ticked() {
        return house.client(builder -> builder.wakeup(Wakeup.http()).handle(JOB, (job, run) -> {}));
    }

    private static void appears(Carillon carillon, String text) {
        List<String> issues = eventually()
                .until(() -> carillon.health().issues(), now -> now.stream().anyMatch(issue -> issue.contains(text)));
        assertThat(issues).isNotEmpty();
        assertThat(carillon.health().healthy()).isFalse();
    }

    private static void goes(Carillon carillon, String text) {
        eventually().until(() -> carillon.health().issues().stream().noneMatch(issue -> issue.contains(text)));
    }

    private static void give(Connection connection) {
        try {
            connection.close();
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
