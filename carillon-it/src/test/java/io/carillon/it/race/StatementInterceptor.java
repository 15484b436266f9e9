package io.carillon.it.race;

import io.carillon.it.statement.Statements;
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
 * A data source that interferes with the first execution of one statement, recognized by its bare text. The statement
 * stays in an open transaction until the test decides, or is rolled back immediately, or stops inside PostgreSQL after
 * it took its snapshot. All other statements pass unchanged.
 */
final class StatementInterceptor {
    /** A session setting that makes the triggers of {@link RaceTables} stop a statement. */
    static final String STOP_SETTING = "carillon_race.stop";

    private static final int LIMIT_SECONDS = 20;
    /** An SQLSTATE that the store neither retries nor splits nor translates. */
    private static final String FAILED = "58030";

    private enum Mode {
        COUNT,
        WAIT,
        HOLD,
        FAIL,
        STOP
    }

    private static final class ArmedStatement {
        private final String text;
        private final Mode mode;
        private final CountDownLatch executed = new CountDownLatch(1);
        private final CountDownLatch decided = new CountDownLatch(1);
        private final CountDownLatch ended = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private volatile boolean rollBack;
        private final AtomicInteger sent = new AtomicInteger();

        private ArmedStatement(String text, Mode mode) {
            this.text = text;
            this.mode = mode;
        }
    }

    private final DataSource source;
    private final Set<Integer> backends = ConcurrentHashMap.newKeySet();
    private volatile @Nullable ArmedStatement armedStatement;

    StatementInterceptor(DataSource source) {
        this.source = source;
    }

    /** Returns the data source for the store under test. */
    DataSource dataSource() {
        return (DataSource) proxy(DataSource.class, (proxy, method, arguments) -> {
            Object result = call(source, method, arguments);
            return result instanceof Connection connection ? lent(connection) : result;
        });
    }

    /** Returns the PostgreSQL backend pids of the connections handed out. */
    Integer[] backends() {
        return backends.toArray(Integer[]::new);
    }

    /** Counts how often the statement is sent, without interfering. */
    void count(String bareText) {
        armedStatement = new ArmedStatement(bareText, Mode.COUNT);
    }

    /** Holds the statement and sends it only after {@link #commit()}. */
    void holdBeforeSending(String bareText) {
        armedStatement = new ArmedStatement(bareText, Mode.WAIT);
    }

    /** Executes the statement and keeps its transaction open until {@link #commit()} or {@link #rollBack()}. */
    void holdInTransaction(String bareText) {
        armedStatement = new ArmedStatement(bareText, Mode.HOLD);
    }

    /** Executes the statement, rolls it back, and throws an error. */
    void rollBackAndFail(String bareText) {
        armedStatement = new ArmedStatement(bareText, Mode.FAIL);
    }

    /**
     * Stops the statement after it took its snapshot and before it reads rows, while {@link RaceTables} holds its lock.
     */
    void stopInside(String bareText) {
        armedStatement = new ArmedStatement(bareText, Mode.STOP);
    }

    int sent() {
        return current().sent.get();
    }

    /** Returns whether the statement was executed, or is held before it is sent. */
    boolean executed() {
        return current().executed.getCount() == 0;
    }

    /**
     * Returns whether a statement in auto-commit mode was committed or rolled back and waits for {@link #release()}.
     */
    boolean ended() {
        return current().ended.getCount() == 0;
    }

    /** Lets the transaction commit. A statement in auto-commit mode returns only after {@link #release()}. */
    void commit() {
        current().decided.countDown();
    }

    /** Like {@link #commit()}, but rolls the statement back and makes it fail. */
    void rollBack() {
        current().rollBack = true;
        current().decided.countDown();
    }

    void release() {
        current().goOn.countDown();
    }

    private ArmedStatement current() {
        ArmedStatement now = armedStatement;
        if (now == null) throw new IllegalStateException("No statement is selected.");
        return now;
    }

    private Connection lent(Connection connection) throws SQLException {
        backends.add(connection.unwrap(PGConnection.class).getBackendPID());
        return (Connection) proxy(Connection.class, (proxy, method, arguments) -> {
            Object result = call(connection, method, arguments);
            ArmedStatement now = armedStatement;
            if (now == null || !method.getName().equals("prepareStatement")) return result;
            if (!Statements.bare((String) arguments[0]).equals(now.text)) return result;
            return watched(now, connection, (PreparedStatement) result);
        });
    }

    private static PreparedStatement watched(ArmedStatement now, Connection connection, PreparedStatement statement) {
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
            } catch (SQLException ignored) {
                // The transaction failed; its rollback resets the setting.
            }
        }
    }

    private static void set(Connection connection, String value) throws SQLException {
        try (Statement setting = connection.createStatement()) {
            setting.execute("SET " + STOP_SETTING + " = '" + value + "'");
        }
    }

    private static Object held(ArmedStatement now, Connection connection, Execution execution) throws Throwable {
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
        if (!latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)) throw new AssertionError("The test did not decide in time.");
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
