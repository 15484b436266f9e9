package io.carillon.testkit;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/** Waits for commits of certain statements, to strike a limited number of times. A deadly one waits for a claim that took something, and ends everything. */
final class Ambush {
    /** What only claims do. */
    private static final String CLAIMS = "attempt = attempt + 1";

    private final Predicate<String> statement;
    private final AtomicInteger left;
    private final boolean deadly;

    Ambush(Predicate<String> statement, int times) {
        this(statement, times, false);
    }

    private Ambush(Predicate<String> statement, int times, boolean deadly) {
        this.statement = statement;
        this.left = new AtomicInteger(times);
        this.deadly = deadly;
    }

    static Ambush afterClaim() {
        return new Ambush(text -> text.contains("UPDATE carillon.run") && text.contains(CLAIMS), 1, true);
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

    boolean deadly() {
        return deadly;
    }

    void callOff() {
        left.set(0);
    }
}
