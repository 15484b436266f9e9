package io.carillon.it.fault;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.it.fixture.FaultyStorage;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;

/** Decides which port calls fail, how, and whether before or after they took effect. */
final class PortFaults implements FaultyStorage.CallInterceptor {
    /** The kind of error that a port throws. */
    enum Kind {
        RUNTIME,
        STACK_OVERFLOW,
        OUT_OF_MEMORY,
        STORAGE,
        RAW_SQL;

        Throwable make() {
            return switch (this) {
                case RUNTIME -> new IllegalStateException("injected");
                case STACK_OVERFLOW -> new StackOverflowError("injected");
                case OUT_OF_MEMORY -> new OutOfMemoryError("injected");
                case STORAGE ->
                    new CarillonException(
                            ErrorCode.DATABASE_UNREACHABLE, "injected", new SQLException("injected", "08006"));
                case RAW_SQL -> new SQLException("injected", "57P01");
            };
        }
    }

    /** Whether the error comes before or after the call takes effect. */
    enum When {
        BEFORE,
        AFTER
    }

    private final Kind kind;
    private final When when;
    private final Map<String, AtomicInteger> armed = new ConcurrentHashMap<>();
    private final Set<String> failedPoints = new ConcurrentSkipListSet<>();

    PortFaults(Kind kind, When when) {
        this.kind = kind;
        this.when = when;
    }

    /** Makes the next calls of each of these points fail this many times. */
    void arm(Set<String> points, int times) {
        points.forEach(point -> armed.put(point, new AtomicInteger(times)));
    }

    void disarm() {
        armed.clear();
    }

    /** Returns the points that have failed at least once. */
    Set<String> failedPoints() {
        return new TreeSet<>(failedPoints);
    }

    @Override
    public Object intercept(String point, Callable<Object> call) throws Throwable {
        AtomicInteger left = armed.get(point);
        boolean fails = left != null && left.getAndDecrement() > 0;
        if (!fails) return call.call();
        if (when == When.AFTER) call.call();
        failedPoints.add(point);
        throw kind.make();
    }

    @Override
    public String toString() {
        return kind + " " + when;
    }
}
