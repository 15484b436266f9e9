package io.carillon.run;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A run about to be stored; {@code trace}: what its companions packed. */
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
        @Nullable String trace) {
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
        this(id, lane, priority, origin, target, payload, due, key, schedule, gate, null);
    }

    /** The same with what its companions packed. */
    public NewRun carrying(String packed) {
        return new NewRun(id, lane, priority, origin, target, payload, due, key, schedule, gate, packed);
    }

    /** One that waits behind no gate. */
    public NewRun(
            RunId id,
            Lane lane,
            Priority priority,
            Origin origin,
            Target target,
            Payload payload,
            Enqueue.Due due,
            @Nullable String key,
            @Nullable UUID schedule) {
        this(id, lane, priority, origin, target, payload, due, key, schedule, null, null);
    }
}
