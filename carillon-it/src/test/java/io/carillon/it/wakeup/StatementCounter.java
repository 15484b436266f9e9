package io.carillon.it.wakeup;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/** A data source that counts the statements sent through it, by the name of the sending thread. */
final class StatementCounter {
    private final DataSource delegate;
    private final Map<String, Long> counted = new ConcurrentHashMap<>();

    StatementCounter(DataSource behind) {
        this.delegate = behind;
    }

    DataSource source() {
        return wrapped(
                DataSource.class,
                delegate,
                answer -> answer instanceof Connection connection ? connection(connection) : answer);
    }

    private Connection connection(Connection behind) {
        return wrapped(Connection.class, behind, answer -> {
            if (answer instanceof PreparedStatement statement)
                return wrapped(PreparedStatement.class, statement, a -> a);
            return answer instanceof Statement statement ? wrapped(Statement.class, statement, a -> a) : answer;
        });
    }

    void restart() {
        counted.clear();
    }

    Map<String, Long> byThread() {
        return new TreeMap<>(counted);
    }

    private interface ResultWrapper {
        Object wrap(Object answer);
    }

    private <T> T wrapped(Class<T> type, T behind, ResultWrapper resultWrapper) {
        return type.cast(Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (behind instanceof Statement && method.getName().startsWith("execute"))
                        counted.merge(Thread.currentThread().getName(), 1L, Long::sum);
                    return resultWrapper.wrap(passed(method, behind, arguments));
                }));
    }

    private static Object passed(Method method, Object target, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }
}
