package io.carillon.internal.store.node;

import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.GateName;
import io.carillon.run.RunId;
import java.time.Instant;

/** A message from one node to the others. */
public sealed interface Hint {
    /** Upper bound of {@link Work#randomNumber}, exclusive. */
    int RANDOM_BOUND = 100_000;

    /**
     * A lane has, or will have, a run ready at this instant. By the random number, the nodes of a large cluster agree
     * which of them respond. The sender is empty if no node sent the hint; a node ignores its own hints.
     */
    record Work(Lane lane, Instant readyAt, int randomNumber, String sender) implements Hint {}

    /** A run waits at a gate. */
    record GateWaiting(GateName gate) implements Hint {}

    /**
     * A run was stored that waits for other runs, by a process that does not look whether they have ended. By the
     * random number, the nodes of a large cluster agree which of them respond.
     */
    record RunWaiting(String project, RunId run, int randomNumber) implements Hint {}

    /** A running run was cancelled: send a heartbeat now to read the cancel requests. */
    record Cancel() implements Hint {}

    /** Check everything again, for example after the clock was changed. */
    record CheckAll() implements Hint {}

    /**
     * Events were published by a process that does not dispatch them. By the random number, the nodes of a large
     * cluster agree which of them respond.
     */
    record EventsPublished(int randomNumber) implements Hint {}

    /** A ping by which the sender proves that the channel works. */
    record Ping(String sender) implements Hint {}
}
