package io.carillon.event;

/** What a definition of a subscription changed. */
public sealed interface SubscriptionChange {
    /** The subscription did not exist. */
    record Created(long version) implements SubscriptionChange {}

    /** The subscription existed with another definition. */
    record Updated(long version) implements SubscriptionChange {}

    /** The subscription already has this definition. */
    record Unchanged(long version) implements SubscriptionChange {}

    /**
     * Nothing changed, because the subscription does not have the expected version.
     *
     * @param actual its version; 0 if it does not exist
     */
    record VersionConflict(long expected, long actual) implements SubscriptionChange {}
}
