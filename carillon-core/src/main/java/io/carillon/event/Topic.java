package io.carillon.event;

import io.carillon.internal.value.Names;

/**
 * A named group of event types. Subscriptions select events by topic and type.
 *
 * @param name the name that is stored with each event
 * @param versioned whether each key has a version, see {@link #withVersions()}
 */
public record Topic(String name, boolean versioned) {
    public Topic {
        Names.check("topic", name);
    }

    /** Returns the topic with this name, without versions. */
    public static Topic named(String name) {
        return new Topic(name, false);
    }

    /**
     * Returns this topic with versions: each event needs a key, and the version of a key is the number of its events.
     * A publisher can then require a version with {@link NewEvent#expectedVersion(long)}. Publishers of the same key
     * wait for each other until the end of their transactions, and two transactions that publish two keys in
     * opposite order deadlock; PostgreSQL then aborts one of them. All publishers of the topic must use versions.
     */
    public Topic withVersions() {
        return new Topic(name, true);
    }

    /** Returns an event type of this topic. */
    public <T> EventType<T> event(String type, Class<T> dataType) {
        return EventType.of(this, type, dataType);
    }
}
