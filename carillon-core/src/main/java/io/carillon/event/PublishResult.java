package io.carillon.event;

/** The result of a publish. */
public sealed interface PublishResult {
    /**
     * The event is stored.
     *
     * @param version the version of the key after this event; 0 if the topic has no versions
     */
    record Published(EventId id, long version) implements PublishResult {}

    /**
     * The event is not stored, because an event with this publish id exists.
     *
     * @param id the event that was stored first
     */
    record Duplicate(EventId id) implements PublishResult {}

    /**
     * The event is not stored, because its key has another version than the expected one. In a call with several
     * events, none of them is stored.
     */
    record VersionConflict(String key, long expected, long actual) implements PublishResult {}
}
