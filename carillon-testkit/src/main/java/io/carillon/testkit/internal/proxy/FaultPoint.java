package io.carillon.testkit.internal.proxy;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * A fault that is triggered by the commit of certain statements, a limited number of times. A fault that kills the node
 * is triggered by a statement that affected rows: a claim, or the record of a step. It resets all connections.
 */
public final class FaultPoint {
    /** Occurs only in claim statements. */
    private static final String CLAIM_TEXT = "attempt = attempt + 1";

    /** Occurs only in the statement that records a step. */
    private static final String STEP_TEXT = "INSERT INTO carillon.workflow_step (";

    private final Predicate<String> statement;
    private final AtomicInteger skipped;
    private final AtomicInteger remaining;
    private final boolean killsNode;

    public FaultPoint(Predicate<String> statement, int times) {
        this(statement, 0, times, false);
    }

    private FaultPoint(Predicate<String> statement, int skipped, int times, boolean killsNode) {
        this.statement = statement;
        this.skipped = new AtomicInteger(skipped);
        this.remaining = new AtomicInteger(times);
        this.killsNode = killsNode;
    }

    public static FaultPoint afterClaim() {
        return new FaultPoint(text -> text.contains("UPDATE carillon.run") && text.contains(CLAIM_TEXT), 0, 1, true);
    }

    /** Returns a fault that kills the node after it recorded this many steps. */
    public static FaultPoint afterSteps(int steps) {
        return new FaultPoint(text -> text.contains(STEP_TEXT), steps - 1, 1, true);
    }

    public static FaultPoint none() {
        return new FaultPoint(text -> false, 0);
    }

    boolean matches(String text) {
        return remaining.get() > 0 && statement.test(text);
    }

    /** Uses one of the remaining triggers; returns false if none is left, or this commit is skipped. */
    boolean tryTrigger() {
        if (skipped.getAndUpdate(n -> Math.max(0, n - 1)) > 0) return false;
        return remaining.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
    }

    public boolean killsNode() {
        return killsNode;
    }

    public void disarm() {
        remaining.set(0);
    }
}
