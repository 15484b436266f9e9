package io.carillon.internal.run;

import io.carillon.run.Target;

/** The ticks that publish an event. The engine publishes it in the statement that ends the tick. */
public final class PublishingTicks {
    /** The target of these ticks. Its handler does nothing; the payload is the event. */
    public static final Target TARGET = Target.handler("carillon.publish");

    private PublishingTicks() {}
}
