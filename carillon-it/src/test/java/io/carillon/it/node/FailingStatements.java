package io.carillon.it.node;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Predicate;
import javax.sql.DataSource;

/** A data source on which statements with a matching text fail as if the connection had broken. */
final class FailingStatements {
    private FailingStatements() {}

    static DataSource on(DataSource delegate, Predicate<String> statement) {
        return proxy(
                DataSource.class,
                delegate,
                (name, args, result) ->
                        result instanceof Connection connection ? connection(connection, statement) : result);
    }

    private static Connection connection(Connection delegate, Predicate<String> statement) {
        return proxy(Connection.class, delegate, (name, args, result) -> {
            if (name.equals("prepareStatement") && statement.test((String) args[0]))
                throw new SQLException("tripped", "08006");
            return result;
        });
    }

    private interface CallHook {
        Object afterCall(String method, Object[] args, Object result) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, T delegate, CallHook callHook) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            try {
                return callHook.afterCall(method.getName(), args, method.invoke(delegate, args));
            } catch (InvocationTargetException failure) {
                throw failure.getCause();
            }
        }));
    }
}
