package io.carillon.it.wakeup;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.NodeConfig;
import io.carillon.NodeInfo;
import io.carillon.Project;
import io.carillon.Wakeup;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The observable behavior of each wake-up mode; no two modes behave alike. */
@CarillonTest
class WakeModesTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);

    /** So long that no poll finds a run during a test: a run that starts sooner was started by a wake-up. */
    private static final Duration RARELY = Duration.ofMinutes(1);

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration A_WHILE = Duration.ofSeconds(2);

    /**
     * Whether the mode has threads, whether it listens, whether runs of another process start immediately, and whether
     * a run due in ten days is accepted.
     */
    record Traits(boolean threads, boolean listens, boolean startsPromptly, boolean acceptsFarRuns) {}

    private final ApiFixture fixture;
    private final MemoryTransport transport = new MemoryTransport();

    WakeModesTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
        transport.close();
        fixture.database().execute("DELETE FROM carillon.node");
    }

    @Test
    void polling_opens_no_listen_connection_and_finds_runs_of_other_processes_by_polling_only() {
        assertThat(traits(Wakeup.polling(RARELY, RARELY), false)).isEqualTo(new Traits(true, false, false, true));
    }

    @Test
    void notify_listens_and_starts_runs_of_other_processes_immediately() {
        assertThat(traits(Wakeup.notifying(), true)).isEqualTo(new Traits(true, true, true, true));
    }

    @Test
    void queue_starts_runs_of_other_processes_by_message_and_refuses_runs_beyond_the_longest_delay() {
        assertThat(traits(Wakeup.queue(transport), true)).isEqualTo(new Traits(true, false, true, false));
        assertThat(transport.sent()).isPositive();
    }

    @Test
    void hybrid_starts_near_runs_by_message_and_accepts_far_runs_too() {
        assertThat(traits(Wakeup.hybrid(transport), true)).isEqualTo(new Traits(true, false, true, true));
        assertThat(transport.sent()).isPositive();
    }

    @Test
    void http_has_no_thread_and_executes_in_run_due_only() {
        assertThat(traits(Wakeup.http(), false)).isEqualTo(new Traits(false, false, false, true));
        Carillon ticked = fixture.client(builder -> builder.handle(JOB, (job, run) -> {}));
        assertThat(ticked.runDue(Duration.ofSeconds(5)).processed()).isEqualTo(1);
    }

    @Test
    void polling_finds_runs_of_other_processes_within_its_bound() {
        Carillon node = node(Wakeup.polling(Duration.ofMillis(50), Duration.ofMillis(400)));
        Carillon other = fixture.client(builder -> builder.wakeup(Wakeup.polling()));

        for (int i = 0; i < 5; i++) {
            RunId id = other.enqueue(JOB, new Job("x")).run();
            Duration waited = waited(awaitState(node, id, RunState.SUCCEEDED));
            // Four times the bound, because the cores of the test machine may be busy.
            assertThat(waited).isLessThan(Duration.ofMillis(1_600));
        }
    }

    @Test
    void a_node_changes_its_mode_while_it_runs_and_continues_to_execute_runs() {
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
        assertThat(carillon.runDue(Duration.ofSeconds(5)).processed()).isOne();
        awaitState(carillon, ticked, RunState.SUCCEEDED);

        carillon.wakeup(Wakeup.notifying());
        eventually().until(this::listening);
        assertThat(living(carillon)).containsExactly("notify");
        executes(carillon);
    }

    @Test
    void nodes_of_different_modes_share_the_runs_of_one_database() {
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
    void a_message_for_a_run_of_the_callers_transaction_is_sent_when_the_caller_reports_the_commit()
            throws SQLException {
        Carillon node = node(Wakeup.queue(transport));
        eventually().until(() -> node.status().orElseThrow().counts().polls() > 0);
        Carillon other = fixture.client(builder -> builder.wakeup(Wakeup.queue(transport)));
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            List<Runnable> afterCommit = new ArrayList<>();
            Project mine = other.in(connection, afterCommit::add);
            RunId id = mine.enqueue(JOB, new Job("x")).run();
            mine.enqueueAll(JOB, List.of(new Job("y"), new Job("z")));
            connection.commit();
            connection.setAutoCommit(true);
            assertThat(transport.sent()).isZero();
            assertThat(endsWithin(node, id, A_WHILE)).isFalse();

            afterCommit.forEach(Runnable::run);

            awaitState(node, id, RunState.SUCCEEDED);
            assertThat(transport.sent()).isEqualTo(2);
        }
    }

    @Test
    void a_node_starts_a_run_of_its_callers_transaction_when_the_caller_reports_the_commit() throws SQLException {
        Carillon node = node(Wakeup.polling(RARELY, RARELY));
        eventually().until(() -> node.status().orElseThrow().counts().polls() > 0);
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            List<Runnable> afterCommit = new ArrayList<>();
            RunId id = node.in(connection, afterCommit::add)
                    .enqueue(JOB, new Job("x"))
                    .run();
            afterCommit.forEach(Runnable::run);
            awaitState(node, id, RunState.SUCCEEDED);
        }
    }

    @Test
    void hybrid_finds_runs_without_a_message_within_its_bound() throws SQLException {
        Carillon node =
                fixture.node(builder -> builder.wakeup(Wakeup.hybrid(transport)).handle(JOB, (job, run) -> {}));
        eventually().until(() -> node.status().orElseThrow().counts().polls() > 0);
        Carillon other = fixture.client(builder -> builder.wakeup(Wakeup.hybrid(transport)));
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            for (int i = 0; i < 3; i++) {
                RunId id = other.in(connection).enqueue(JOB, new Job("x")).run();
                // The bound of one second, plus a margin for a machine with two busy cores.
                assertThat(waited(awaitState(node, id, RunState.SUCCEEDED))).isLessThan(Duration.ofSeconds(3));
            }
        }
        assertThat(transport.sent()).isZero();
    }

    @Test
    void a_transport_that_fails_loses_the_message_but_not_the_run() {
        transport.close();
        Carillon client = fixture.client(builder -> builder.wakeup(Wakeup.hybrid(transport)));

        RunId id = client.enqueue(JOB, new Job("x")).run();

        assertThat(client.runs().get(id)).isPresent();
        Carillon node =
                fixture.node(builder -> builder.wakeup(Wakeup.hybrid(transport)).handle(JOB, (job, run) -> {}));
        awaitState(node, id, RunState.SUCCEEDED);
    }

    private Traits traits(Wakeup wakeup, boolean promptExpected) {
        Carillon node = node(wakeup);
        if (wakeup.mode() == Wakeup.Mode.NOTIFY) eventually().until(this::listening);
        // The first poll is automatic, and would find a run that was enqueued earlier immediately in any mode.
        if (wakeup.mode() != Wakeup.Mode.HTTP)
            eventually().until(() -> node.status().orElseThrow().counts().polls() > 0);
        Carillon other = fixture.client(builder -> builder.wakeup(wakeup));
        RunId id = other.enqueue(JOB, new Job("x")).run();
        boolean prompt = endsWithin(other, id, promptExpected ? SOON : A_WHILE);
        return new Traits(threads(), listening(), prompt, acceptsFar(node));
    }

    private static boolean endsWithin(Carillon carillon, RunId id, Duration within) {
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
        NodeConfig config = NodeConfig.defaults().pollInterval(RARELY).shutdownTimeout(Duration.ofSeconds(2));
        return fixture.node(builder -> builder.config(config).wakeup(wakeup).handle(JOB, (job, run) -> {}));
    }

    private static void executes(Carillon carillon) {
        awaitState(carillon, carillon.enqueue(JOB, new Job("x")).run(), RunState.SUCCEEDED);
    }

    private static Duration waited(io.carillon.run.Run run) {
        return Duration.between(run.instants().dueAt(), run.instants().startedAt());
    }

    private static List<String> living(Carillon carillon) {
        return carillon.nodes().stream()
                .filter(NodeInfo::alive)
                .map(NodeInfo::wakeup)
                .toList();
    }

    private boolean listening() {
        return fixture.query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                + " AND query = 'LISTEN carillon'")
                        .number()
                > 0;
    }

    private static boolean threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("carillon-claim"));
    }
}
