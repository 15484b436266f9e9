package io.carillon.run;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A run about to be stored; {@code trace}: what its companions packed; {@code window}: how long its key holds at least. */
public record NewRun(
        RunId id,
        Lane lane,
        Priority priority,
        Origin origin,
        Target target,
        Payload payload,
        Enqueue.Due due,
        @Nullable String key,
        @Nullable UUID schedule,
        @Nullable Gate gate,
        @Nullable String trace,
        @Nullable Duration window) {
    /** One that nothing travels with. */
    public NewRun(
            RunId id,
            Lane lane,
            Priority priority,
            Origin origin,
            Target target,
            Payload payload,
            Enqueue.Due due,
            @Nullable String key,
            @Nullable UUID schedule,
            @Nullable Gate gate) {
        this(id, lane, priority, origin, target, payload, due, key, schedule, gate, null, null);
    }

    /** The same with what its companions packed. */
    public NewRun carrying(String packed) {
        return new NewRun(id, lane, priority, origin, target, payload, due, key, schedule, gate, packed, window);
    }

    /** The same with a key that holds for a while. */
    public NewRun holding(@Nullable Duration keyWindow) {
        return new NewRun(id, lane, priority, origin, target, payload, due, key, schedule, gate, trace, keyWindow);
    }
}
