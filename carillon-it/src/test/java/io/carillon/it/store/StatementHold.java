package io.carillon.it.store;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * A data source that interferes with one statement, recognised by its bare text, the first time it is sent: the statement stays in an open transaction until
 * the test decides, or is rolled back at once, or stops inside the server after its snapshot was taken. All other statements pass.
 */
final class StatementHold {
    /** A session setting that makes the triggers of {@link RaceTables} stop a statement. */
    static final String STOP_SETTING = "carillon_race.stop";

    private static final int LIMIT_SECONDS = 20;
    /** No class of failures that the product repeats, splits or explains. */
    private static final String FAILED = "58030";

    private enum Mode {
        COUNT,
        WAIT,
        HOLD,
        FAIL,
        STOP
    }

    private static final class Armed {
        private final String text;
        private final Mode mode;
        private final CountDownLatch executed = new CountDownLatch(1);
        private final CountDownLatch decided = new CountDownLatch(1);
        private final CountDownLatch ended = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private volatile boolean rollBack;
        private final AtomicInteger sent = new AtomicInteger();

        private Armed(String text, Mode mode) {
            this.text = text;
            this.mode = mode;
        }
    }

    private final DataSource source;
    private final Set<Integer> backends = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Armed armed;

    StatementHold(DataSource source) {
        this.source = source;
    }

    /** Where the product gets its connections from. */
    DataSource dataSource() {
        return (DataSource) proxy(DataSource.class, (proxy, method, arguments) -> {
            Object result = call(source, method, arguments);
            return result instanceof Connection connection ? lent(connection) : result;
        });
    }

    /** The server's processes behind the connections that were lent. */
    Integer[] backends() {
        return backends.toArray(Integer[]::new);
    }

    /** Only counts how often the statement is sent. */
    void count(String bareText) {
        armed = new Armed(bareText, Mode.COUNT);
    }

    /** The statement is sent only after {@link #commit()}. */
    void holdBack(String bareText) {
        armed = new Armed(bareText, Mode.WAIT);
    }

    /** The statement is executed and stays in an open transaction until {@link #commit()} or {@link #rollBack()}. */
    void hold(String bareText) {
        armed = new Armed(bareText, Mode.HOLD);
    }

    /** The statement is executed, rolled back, and answered with an error. */
    void fail(String bareText) {
        armed = new Armed(bareText, Mode.FAIL);
    }

    /** The statement takes its snapshot and stops before it reads rows, as long as somebody holds the lock of {@link RaceTables}. */
    void stopInside(String bareText) {
        armed = new Armed(bareText, Mode.STOP);
    }

    int sent() {
        return now().sent.get();
    }

    /** Whether the statement was executed, or waits for being sent. */
    boolean executed() {
        return now().executed.getCount() == 0;
    }

    /** Whether the statement was committed or rolled back by itself, and waits for {@link #goOn()}. */
    boolean ended() {
        return now().ended.getCount() == 0;
    }

    /** Lets the transaction go on to its commit. A statement that was to be committed alone is answered only after {@link #goOn()}. */
    void commit() {
        now().decided.countDown();
    }

    /** Like {@link #commit()}, but the statement is rolled back and fails. */
    void rollBack() {
        now().rollBack = true;
        now().decided.countDown();
    }

    void goOn() {
        now().goOn.countDown();
    }

    private Armed now() {
        Armed now = armed;
        if (now == null) throw new IllegalStateException("no statement is armed");
        return now;
    }

    private Connection lent(Connection connection) throws SQLException {
        backends.add(connection.unwrap(PGConnection.class).getBackendPID());
        return (Connection) proxy(Connection.class, (proxy, method, arguments) -> {
            Object result = call(connection, method, arguments);
            Armed now = armed;
            if (now == null || !method.getName().equals("prepareStatement")) return result;
            if (!Statements.bare((String) arguments[0]).equals(now.text)) return result;
            return watched(now, connection, (PreparedStatement) result);
        });
    }

    private static PreparedStatement watched(Armed now, Connection connection, PreparedStatement statement) {
        return (PreparedStatement) proxy(PreparedStatement.class, (proxy, method, arguments) -> {
            if (!method.getName().startsWith("execute")) return call(statement, method, arguments);
            if (now.sent.incrementAndGet() > 1 || now.mode == Mode.COUNT) return call(statement, method, arguments);
            if (now.mode == Mode.WAIT) {
                now.executed.countDown();
                await(now.decided);
                return call(statement, method, arguments);
            }
            if (now.mode == Mode.STOP) return stopped(connection, () -> call(statement, method, arguments));
            return held(now, connection, () -> call(statement, method, arguments));
        });
    }

    private interface Execution {
        Object run() throws Throwable;
    }

    private static Object stopped(Connection connection, Execution execution) throws Throwable {
        set(connection, "on");
        try {
            return execution.run();
        } finally {
            try {
                set(connection, "off");
            } catch (SQLException doomed) {
                // The transaction failed; its rollback takes the setting back.
            }
        }
    }

    private static void set(Connection connection, String value) throws SQLException {
        try (Statement setting = connection.createStatement()) {
            setting.execute("SET " + STOP_SETTING + " = '" + value + "'");
        }
    }

    private static Object held(Armed now, Connection connection, Execution execution) throws Throwable {
        boolean alone = connection.getAutoCommit();
        if (alone) connection.setAutoCommit(false);
        try {
            Object result = execution.run();
            now.executed.countDown();
            if (now.mode == Mode.HOLD) await(now.decided);
            boolean fails = now.mode == Mode.FAIL || now.rollBack;
            if (alone && fails) connection.rollback();
            if (alone && !fails) connection.commit();
            if (alone) now.ended.countDown();
            if (alone && now.mode == Mode.HOLD) await(now.goOn);
            if (fails) throw new SQLException("rolled back by the test", FAILED);
            return result;
        } catch (SQLException failure) {
            if (alone) connection.rollback();
            throw failure;
        } finally {
            if (alone) connection.setAutoCommit(true);
        }
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)) throw new AssertionError("the test did not decide");
    }

    private static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }

    private static Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }
}
