package io.carillon.it.wakeup;

import static io.carillon.it.frontdoor.House.awaitState;
import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.Project;
import io.carillon.engine.EngineConfig;
import io.carillon.it.frontdoor.House;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.store.NodeView;
import io.carillon.store.Wakeup;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.carillon.value.CarillonException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Each wake-up mode by what can be seen of it from outside; no two of them look alike. */
@CarillonTest
class WakeModesTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);

    /** So rare that nothing is found by looking while a test runs: what starts sooner was hinted at. */
    private static final Duration RARELY = Duration.ofMinutes(1);

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration A_WHILE = Duration.ofSeconds(2);

    /** Whether it has threads and listens; whether work of another process starts at once; whether a run in ten days is accepted. */
    record Traits(boolean threads, boolean listens, boolean prompt, boolean far) {}

    private final House house;
    private final MemoryTransport transport = new MemoryTransport();

    WakeModesTest(TestDatabase database) {
        house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
        transport.close();
        house.database().execute("DELETE FROM carillon.node");
    }

    @Test
    void polling_listens_to_nothing_and_finds_others_work_by_looking_only() {
        assertThat(traits(Wakeup.polling(RARELY, RARELY), false)).isEqualTo(new Traits(true, false, false, true));
    }

    @Test
    void notify_listens_and_starts_others_work_at_once() {
        assertThat(traits(Wakeup.notifying(), true)).isEqualTo(new Traits(true, true, true, true));
    }

    @Test
    void queue_starts_others_work_by_a_message_and_refuses_what_none_can_wait_for() {
        assertThat(traits(Wakeup.queue(transport), true)).isEqualTo(new Traits(true, false, true, false));
        assertThat(transport.sent()).isPositive();
    }

    @Test
    void hybrid_starts_near_work_by_a_message_and_takes_far_work_too() {
        assertThat(traits(Wakeup.hybrid(transport), true)).isEqualTo(new Traits(true, false, true, true));
        assertThat(transport.sent()).isPositive();
    }

    @Test
    void http_has_no_thread_and_executes_by_ticks_only() {
        assertThat(traits(Wakeup.http(), false)).isEqualTo(new Traits(false, false, false, true));
        Carillon ticked = house.client(builder -> builder.handle(JOB, (job, run) -> {}));
        assertThat(ticked.tick(Duration.ofSeconds(5)).processed()).isEqualTo(1);
    }

    @Test
    void polling_finds_others_work_within_its_bound() {
        Carillon node = node(Wakeup.polling(Duration.ofMillis(50), Duration.ofMillis(400)));
        Carillon other = house.client(builder -> builder.wakeup(Wakeup.polling()));

        for (int i = 0; i < 5; i++) {
            RunId id = other.enqueue(JOB, new Job("x")).run();
            Duration waited = waited(awaitState(node, id, RunState.SUCCEEDED));
            // Four times the bound: two cores may be busy with other things.
            assertThat(waited).isLessThan(Duration.ofMillis(1_600));
        }
    }

    @Test
    void a_node_changes_its_mode_while_it_runs_and_work_goes_on() {
        Carillon carillon = node(Wakeup.notifying());
        eventually().until(this::listening);
        executes(carillon);

        carillon.wakeup(Wakeup.polling());
        assertThat(listening()).isFalse();
        assertThat(living(carillon)).containsExactly("polling");
        executes(carillon);

        carillon.wakeup(Wakeup.hybrid(transport));
        assertThat(transport.consumers()).isOne();
        assertThat(living(carillon)).containsExactly("hybrid");
        executes(carillon);

        carillon.wakeup(Wakeup.http());
        assertThat(transport.consumers()).isZero();
        assertThat(threads()).isFalse();
        assertThat(living(carillon)).isEmpty();
        RunId ticked = carillon.enqueue(JOB, new Job("x")).run();
        assertThat(carillon.tick(Duration.ofSeconds(5)).processed()).isOne();
        awaitState(carillon, ticked, RunState.SUCCEEDED);

        carillon.wakeup(Wakeup.notifying());
        eventually().until(this::listening);
        assertThat(living(carillon)).containsExactly("notify");
        executes(carillon);
    }

    @Test
    void nodes_of_different_modes_share_the_work_of_one_database() {
        Carillon listening = node(Wakeup.notifying());
        Carillon polling = node(Wakeup.polling());
        Carillon fed = node(Wakeup.queue(transport));

        List<RunId> ids = List.of(listening, polling, fed).stream()
                .flatMap(node -> node.enqueueAll(JOB, List.of(new Job("a"), new Job("b"))).stream())
                .map(result -> result.run())
                .toList();

        ids.forEach(id -> assertThat(awaitState(polling, id, RunState.SUCCEEDED).attempt())
                .isOne());
        assertThat(living(polling)).containsExactlyInAnyOrder("notify", "polling", "queue");
    }

    @Test
    void a_message_for_a_run_of_the_callers_transaction_goes_out_when_the_caller_says_that_it_committed()
            throws SQLException {
        Carillon node = node(Wakeup.queue(transport));
        eventually().until(() -> node.status().orElseThrow().counts().looks() > 0);
        Carillon other = house.client(builder -> builder.wakeup(Wakeup.queue(transport)));
        try (Connection connection = house.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            List<Runnable> afterCommit = new ArrayList<>();
            Project mine = other.in(connection, afterCommit::add);
            RunId id = mine.enqueue(JOB, new Job("x")).run();
            mine.enqueueAll(JOB, List.of(new Job("y"), new Job("z")));
            connection.commit();
            connection.setAutoCommit(true);
            assertThat(transport.sent()).isZero();
            assertThat(ends(node, id, A_WHILE)).isFalse();

            afterCommit.forEach(Runnable::run);

            awaitState(node, id, RunState.SUCCEEDED);
            assertThat(transport.sent()).isEqualTo(2);
        }
    }

    @Test
    void a_node_starts_work_of_its_own_callers_transaction_at_once_when_told() throws SQLException {
        Carillon node = node(Wakeup.polling(RARELY, RARELY));
        eventually().until(() -> node.status().orElseThrow().counts().looks() > 0);
        try (Connection connection = house.database().dataSource().getConnection()) {
            List<Runnable> afterCommit = new ArrayList<>();
            RunId id = node.in(connection, afterCommit::add)
                    .enqueue(JOB, new Job("x"))
                    .run();
            afterCommit.forEach(Runnable::run);
            awaitState(node, id, RunState.SUCCEEDED);
        }
    }

    @Test
    void hybrid_finds_what_no_message_told_of_within_its_bound() throws SQLException {
        Carillon node =
                house.node(builder -> builder.wakeup(Wakeup.hybrid(transport)).handle(JOB, (job, run) -> {}));
        eventually().until(() -> node.status().orElseThrow().counts().looks() > 0);
        Carillon other = house.client(builder -> builder.wakeup(Wakeup.hybrid(transport)));
        try (Connection connection = house.database().dataSource().getConnection()) {
            for (int i = 0; i < 3; i++) {
                RunId id = other.in(connection).enqueue(JOB, new Job("x")).run();
                // The bound of a second, and room for two busy cores.
                assertThat(waited(awaitState(node, id, RunState.SUCCEEDED))).isLessThan(Duration.ofSeconds(3));
            }
        }
        assertThat(transport.sent()).isZero();
    }

    @Test
    void a_transport_that_fails_costs_the_hint_and_not_the_run() {
        transport.close();
        Carillon client = house.client(builder -> builder.wakeup(Wakeup.hybrid(transport)));

        RunId id = client.enqueue(JOB, new Job("x")).run();

        assertThat(client.runs().get(id)).isPresent();
        Carillon node =
                house.node(builder -> builder.wakeup(Wakeup.hybrid(transport)).handle(JOB, (job, run) -> {}));
        awaitState(node, id, RunState.SUCCEEDED);
    }

    private Traits traits(Wakeup wakeup, boolean promptExpected) {
        Carillon node = node(wakeup);
        if (wakeup.mode() == Wakeup.Mode.NOTIFY) eventually().until(this::listening);
        // Its first look comes by itself: what is enqueued before it would be found at once in any mode.
        if (wakeup.mode() != Wakeup.Mode.HTTP)
            eventually().until(() -> node.status().orElseThrow().counts().looks() > 0);
        Carillon other = house.client(builder -> builder.wakeup(wakeup));
        RunId id = other.enqueue(JOB, new Job("x")).run();
        boolean prompt = ends(other, id, promptExpected ? SOON : A_WHILE);
        return new Traits(threads(), listening(), prompt, acceptsFar(node));
    }

    private static boolean ends(Carillon carillon, RunId id, Duration within) {
        try {
            Awaitility.await()
                    .atMost(within)
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> carillon.runs().get(id).orElseThrow().state() == RunState.SUCCEEDED);
            return true;
        } catch (ConditionTimeoutException late) {
            return false;
        }
    }

    private static boolean acceptsFar(Carillon carillon) {
        Enqueue far = Enqueue.after(Duration.ofDays(10));
        try {
            carillon.enqueue(JOB, new Job("far"), far);
            return true;
        } catch (CarillonException refused) {
            assertThatThrownBy(() -> carillon.enqueue(JOB, new Job("far"), far)).hasMessageContaining("hybrid");
            return false;
        }
    }

    private Carillon node(Wakeup wakeup) {
        EngineConfig config = EngineConfig.defaults();
        EngineConfig.Pace pace = new EngineConfig.Pace(RARELY, config.pace().plan(), Duration.ofSeconds(2));
        return house.node(
                builder -> builder.config(config.with(pace)).wakeup(wakeup).handle(JOB, (job, run) -> {}));
    }

    private static void executes(Carillon carillon) {
        awaitState(carillon, carillon.enqueue(JOB, new Job("x")).run(), RunState.SUCCEEDED);
    }

    private static Duration waited(io.carillon.run.Run run) {
        return Duration.between(run.instants().dueAt(), run.instants().startedAt());
    }

    private static List<String> living(Carillon carillon) {
        return carillon.nodes().stream()
                .filter(NodeView::alive)
                .map(node -> node.info().wakeup())
                .toList();
    }

    private boolean listening() {
        return house.number(
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN carillon'")
                > 0;
    }

    private static boolean threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("carillon-claim"));
    }
}
