package io.carillon.it.wakeup;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.Health;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.FaultProxy;
import io.carillon.testkit.TestDatabase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * LISTEN fails in the ways that networks and poolers cause: the node polls meanwhile without a busy loop, and returns
 * to LISTEN afterwards.
 */
@CarillonTest
class ListenFaultsTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Duration RECONNECT_TIME = Duration.ofSeconds(10);

    /** The node detects an error immediately; only a silent connection takes longer. */
    private static final Duration DETECTION_TIME = Duration.ofSeconds(4);

    /** The poll interval of at most one second, plus a margin for a machine with two busy cores. */
    private static final Duration BOUND = Duration.ofSeconds(3);

    private final ApiFixture fixture;
    private final AtomicInteger listenConnections = new AtomicInteger();
    private volatile boolean isListenDropped;

    ListenFaultsTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
        fixture.database().execute("DELETE FROM carillon.node");
    }

    @Test
    @Tag("slow")
    void a_half_open_socket_is_detected_and_polling_keeps_its_bound_meanwhile() {
        try (FaultProxy proxy = FaultProxy.inFrontOf(fixture.database())) {
            Carillon node = node(proxy.dataSource());
            long pollsBefore = headReads(node);
            long from = System.nanoTime();
            proxy.halfOpen();
            // The node has not detected the broken connection yet.
            startsWithinTheBound(node);

            Awaitility.await().atMost(RECONNECT_TIME).until(() -> reportsListenIssue(node));
            for (int i = 0; i < 3; i++) startsWithinTheBound(node);
            int before = listenConnections.get();
            proxy.restore();

            Awaitility.await().atMost(RECONNECT_TIME).until(() -> !reportsListenIssue(node));
            startsWithinTheBound(node);
            assertThat(listenConnections.get() - before).isLessThan(8);
            // At most two polls per second, plus one when a run arrives and one when it ends.
            assertThat(headReads(node) - pollsBefore).isLessThan((System.nanoTime() - from) / 500_000_000 + 15);
            node.close();
        }
    }

    @Test
    void a_dropped_listen_connection_is_reopened_soon() {
        Carillon node = node(fixture.database().pool(4));
        String before = listener();

        fixture.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = " + before)
                .rows();
        startsWithinTheBound(node);

        Awaitility.await()
                .atMost(DETECTION_TIME)
                .until(() -> !reportsListenIssue(node) && !List.of(before, "0").contains(listener()));
        assertThat(listenConnections.get()).isLessThan(6);
    }

    @Test
    @Tag("slow")
    void behind_a_pooler_that_drops_listen_the_node_polls_reports_it_and_does_not_reconnect_in_a_loop() {
        isListenDropped = true;
        Carillon node = start(fixture.database().pool(4));

        Awaitility.await().atMost(RECONNECT_TIME).until(() -> listenConnections.get() >= 2);
        for (int i = 0; i < 3; i++) startsWithinTheBound(node);
        assertThat(reportsListenIssue(node)).isTrue();
        assertThat(node.health().issues())
                .anySatisfy(issue -> assertThat(issue.text()).contains("LISTEN").contains("pooler"));
        assertThat(listenConnections.get()).isLessThan(5);

        isListenDropped = false;
        Awaitility.await().atMost(RECONNECT_TIME).until(() -> !reportsListenIssue(node));
    }

    private Carillon node(DataSource forTheListener) {
        Carillon node = start(forTheListener);
        eventually().until(() -> !reportsListenIssue(node));
        return node;
    }

    private Carillon start(DataSource forTheListener) {
        DataSource others = fixture.database().pool(12);
        DataSource split = (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    boolean listening = Thread.currentThread().getName().equals("carillon-listen");
                    if (!listening || !method.getName().equals("getConnection"))
                        return passed(method, others, arguments);
                    listenConnections.incrementAndGet();
                    Connection connection = (Connection) passed(method, forTheListener, arguments);
                    return isListenDropped ? droppingListen(connection) : connection;
                });
        return fixture.add(Carillon.on(split).handle(JOB, (job, run) -> {}).start());
    }

    /**
     * Behaves like a transaction pooler: LISTEN succeeds, but on a connection that the pooler gives to
     * another client next.
     */
    private static Connection droppingListen(Connection connection) {
        return wrapped(Connection.class, (method, arguments) -> {
            Object answer = passed(method, connection, arguments);
            if (!method.getName().equals("createStatement")) return answer;
            return wrapped(Statement.class, (called, given) -> {
                boolean listen = given != null && given[0] instanceof String sql && sql.startsWith("LISTEN");
                return passed(called, answer, listen ? new Object[] {"SELECT 1"} : given);
            });
        });
    }

    private interface Invocation {
        Object with(Method method, Object[] arguments) throws Throwable;
    }

    private static <T> T wrapped(Class<T> type, Invocation invocation) {
        return type.cast(Proxy.newProxyInstance(
                ListenFaultsTest.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> invocation.with(method, arguments)));
    }

    private static Object passed(Method method, Object target, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }

    private void startsWithinTheBound(Carillon node) {
        Carillon other = fixture.client(builder -> builder);
        Run run = awaitState(node, other.enqueue(JOB, new Job("x")).run(), RunState.SUCCEEDED);
        assertThat(Duration.between(run.instants().dueAt(), run.instants().startedAt()))
                .isLessThan(BOUND);
    }

    private static long headReads(Carillon node) {
        return node.status().orElseThrow().counts().polls();
    }

    private static boolean reportsListenIssue(Carillon node) {
        return node.health().kinds().contains(Health.Kind.LISTEN_NOT_WORKING);
    }

    private String listener() {
        return fixture.query("SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND query = 'LISTEN carillon'")
                .text();
    }
}
