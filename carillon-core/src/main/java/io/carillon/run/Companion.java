package io.carillon.run;

import java.util.Map;
import java.util.UUID;

/**
 * Something that travels with a run, from whoever enqueues it to whoever executes it: trace context, the caller's authorization. What it packs is stored
 * with the run as text and handed back with each attempt.
 */
public interface Companion {
    /** Runs the rest of the attempt. */
    @FunctionalInterface
    interface Rest {
        Outcome run() throws Exception;
    }

    /** Called on the thread that enqueues, before the run is stored: what shall travel with it. Names of small letters and hyphens, values without line ends. */
    Map<String, String> pack(NewRun run);

    /**
     * Called on the thread that creates, changes or confirms a schedule: what shall travel with each of its runs from now on. Whoever packs nothing confirms what
     * was packed before, and a change forgets it.
     */
    default Map<String, String> packSchedule(UUID schedule) {
        return Map.of();
    }

    /** Called on the thread that executes, around each attempt, with all that was packed; it must call the rest, once. */
    Outcome unpack(Attempt attempt, Map<String, String> packed, Rest rest) throws Exception;
}
