package io.carillon.it.wakeup;

import static io.carillon.it.frontdoor.House.awaitState;
import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.it.frontdoor.House;
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

/** LISTEN breaks in every way a network and a pooler know: polling takes over, nobody spins, and it comes back. */
@CarillonTest
class ListenFaultsTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Duration BACK = Duration.ofSeconds(10);

    /** An error is noticed at once; only silence takes longer. */
    private static final Duration AT_ONCE = Duration.ofSeconds(4);

    /** The poll bound of a second, and room for two busy cores. */
    private static final Duration BOUND = Duration.ofSeconds(3);

    private final House house;
    private final AtomicInteger ears = new AtomicInteger();
    private volatile boolean deaf;

    ListenFaultsTest(TestDatabase database) {
        house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
        house.database().execute("DELETE FROM carillon.node");
    }

    @Test
    @Tag("slow")
    void a_half_open_socket_is_found_out_and_polling_holds_its_bound_meanwhile() {
        try (FaultProxy proxy = FaultProxy.before(house.database())) {
            Carillon node = node(proxy.dataSource());
            long looks = looks(node);
            long from = System.nanoTime();
            proxy.halfOpen();
            // Nobody knows of it yet.
            startsWithinTheBound(node);

            Awaitility.await().atMost(BACK).until(() -> steppedDown(node));
            for (int i = 0; i < 3; i++) startsWithinTheBound(node);
            int before = ears.get();
            proxy.pass();

            Awaitility.await().atMost(BACK).until(() -> !steppedDown(node));
            startsWithinTheBound(node);
            assertThat(ears.get() - before).isLessThan(8);
            // Twice a second at most, and for each run when it comes and when it ends.
            assertThat(looks(node) - looks).isLessThan((System.nanoTime() - from) / 500_000_000 + 15);
            node.close();
        }
    }

    @Test
    void a_listener_that_was_dropped_is_back_soon() {
        Carillon node = node(house.database().pool(4));
        String before = listener();

        house.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = " + before);
        startsWithinTheBound(node);

        Awaitility.await()
                .atMost(AT_ONCE)
                .until(() -> !steppedDown(node) && !List.of(before, "0").contains(listener()));
        assertThat(ears.get()).isLessThan(6);
    }

    @Test
    @Tag("slow")
    void behind_a_pooler_that_swallows_listen_the_node_polls_says_so_and_does_not_wear_it_out() {
        deaf = true;
        Carillon node = start(house.database().pool(4));

        Awaitility.await().atMost(BACK).until(() -> ears.get() >= 2);
        for (int i = 0; i < 3; i++) startsWithinTheBound(node);
        assertThat(steppedDown(node)).isTrue();
        assertThat(node.health().issues())
                .anySatisfy(issue -> assertThat(issue).contains("LISTEN").contains("pooler"));
        assertThat(ears.get()).isLessThan(5);

        deaf = false;
        Awaitility.await().atMost(BACK).until(() -> !steppedDown(node));
    }

    private Carillon node(DataSource forTheListener) {
        Carillon node = start(forTheListener);
        eventually().until(() -> !steppedDown(node));
        return node;
    }

    private Carillon start(DataSource forTheListener) {
        DataSource others = house.database().pool(12);
        DataSource split = (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    boolean listening = Thread.currentThread().getName().equals("carillon-listen");
                    if (!listening || !method.getName().equals("getConnection"))
                        return passed(method, others, arguments);
                    ears.incrementAndGet();
                    Connection connection = (Connection) passed(method, forTheListener, arguments);
                    return deaf ? swallowing(connection) : connection;
                });
        return house.add(Carillon.on(split).handle(JOB, (job, run) -> {}).start());
    }

    /** As a transaction pooler has it: LISTEN is answered and holds on a connection that is somebody else's next. */
    private static Connection swallowing(Connection connection) {
        return wrapped(Connection.class, (method, arguments) -> {
            Object answer = passed(method, connection, arguments);
            if (!method.getName().equals("createStatement")) return answer;
            return wrapped(Statement.class, (called, given) -> {
                boolean listen = given != null && given[0] instanceof String sql && sql.startsWith("LISTEN");
                return passed(called, answer, listen ? new Object[] {"SELECT 1"} : given);
            });
        });
    }

    private interface Called {
        Object with(Method method, Object[] arguments) throws Throwable;
    }

    private static <T> T wrapped(Class<T> type, Called called) {
        return type.cast(Proxy.newProxyInstance(
                ListenFaultsTest.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> called.with(method, arguments)));
    }

    private static Object passed(Method method, Object target, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }

    private void startsWithinTheBound(Carillon node) {
        Carillon other = house.client(builder -> builder);
        Run run = awaitState(node, other.enqueue(JOB, new Job("x")).run(), RunState.SUCCEEDED);
        assertThat(Duration.between(run.instants().dueAt(), run.instants().startedAt()))
                .isLessThan(BOUND);
    }

    private static long looks(Carillon node) {
        return node.status().orElseThrow().counts().looks();
    }

    private static boolean steppedDown(Carillon node) {
        return node.health().issues().stream().anyMatch(issue -> issue.contains("LISTEN"));
    }

    private String listener() {
        return house.one(
                "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN carillon'");
    }
}
