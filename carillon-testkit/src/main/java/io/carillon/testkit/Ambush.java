package io.carillon.testkit;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/** Waits for commits of certain statements, to strike a limited number of times. */
final class Ambush {
    private final Predicate<String> statement;
    private final AtomicInteger left;

    Ambush(Predicate<String> statement, int times) {
        this.statement = statement;
        this.left = new AtomicInteger(times);
    }

    static Ambush none() {
        return new Ambush(text -> false, 0);
    }

    boolean awaits(String text) {
        return left.get() > 0 && statement.test(text);
    }

    /** Takes one of the strikes that are left. */
    boolean strike() {
        return left.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
    }

    void callOff() {
        left.set(0);
    }
}
