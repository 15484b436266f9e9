package io.carillon.internal.run;

import io.carillon.internal.value.Names;
import org.jspecify.annotations.Nullable;

/**
 * The stored form of unique keys. A key is unique among the runs of its handler; the runs of a webhook endpoint have a
 * handler in common with all other webhooks, so their stored keys begin with the queue of the endpoint.
 */
public final class UniqueKeys {
    private UniqueKeys() {}

    /** Returns the stored form of a key for a run in this queue; null if the run has no key. */
    public static @Nullable String stored(String queue, @Nullable String key) {
        return key == null ? null : prefix(queue) + key;
    }

    /** Returns the key that the caller set; null if the run has none. */
    public static @Nullable String shown(String queue, @Nullable String stored) {
        String prefix = prefix(queue);
        return stored != null && stored.startsWith(prefix) ? stored.substring(prefix.length()) : stored;
    }

    private static String prefix(String queue) {
        return queue.startsWith(Names.ENDPOINT_QUEUE_PREFIX) ? queue + ":" : "";
    }
}
