package io.carillon.it.frontdoor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Predicate;
import javax.sql.DataSource;

/** A data source on which statements of a certain text fail, as if the connection had broken just then. */
final class Tripping {
    private Tripping() {}

    static DataSource on(DataSource behind, Predicate<String> statement) {
        return proxy(
                DataSource.class,
                behind,
                (name, args, result) ->
                        result instanceof Connection connection ? connection(connection, statement) : result);
    }

    private static Connection connection(Connection behind, Predicate<String> statement) {
        return proxy(Connection.class, behind, (name, args, result) -> {
            if (name.equals("prepareStatement") && statement.test((String) args[0]))
                throw new SQLException("tripped", "08006");
            return result;
        });
    }

    private interface After {
        Object seen(String method, Object[] args, Object result) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, T behind, After after) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            try {
                return after.seen(method.getName(), args, method.invoke(behind, args));
            } catch (InvocationTargetException failure) {
                throw failure.getCause();
            }
        }));
    }
}
