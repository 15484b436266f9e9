package io.carillon.store;

import io.carillon.run.Lane;
import java.time.Instant;

/** What one node tells the others. */
public sealed interface Signal {
    /** Lots are drawn below this. */
    int LOTS = 100_000;

    /**
     * A lane has, or will have, a run ready at this instant; by the lot the nodes of a large cluster agree who of them goes. The sender is empty where no node
     * says it; a node that hears itself knows already.
     */
    record Work(Lane lane, Instant readyAt, int lot, String sender) implements Signal {}

    /** A run waits at a gate. */
    record Knock(GateName gate) implements Signal {}

    /** A running run was cancelled: ask for orders now instead of at the next beat. */
    record Cancel() implements Signal {}

    /** Schedules changed: plan now. */
    record Plan() implements Signal {}

    /** Look at everything anew, such as after the clock was moved. */
    record Look() implements Signal {}

    /** Proof that the channel works: the sender hears itself. */
    record Ping(String sender) implements Signal {}
}
