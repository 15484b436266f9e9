package io.carillon;

import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Lane;
import io.carillon.run.Luggage;
import io.carillon.run.NewRun;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.PayloadCodec;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Uuid7;
import org.jspecify.annotations.Nullable;

/** Turns users' values into runs to be stored; refuses what cannot be stored before anything is written. */
final class Payloads {
    private static final int LIMIT = 256 * 1024;

    private final String project;
    private final Handlers handlers;
    private final PayloadCodec codec;
    private final Luggage luggage;
    private final Uuid7.Sequence ids;

    Payloads(String project, Handlers handlers, PayloadCodec codec, Luggage luggage, Uuid7.Sequence ids) {
        this.project = project;
        this.handlers = handlers;
        this.codec = codec;
        this.luggage = luggage;
        this.ids = ids;
    }

    /** Returns an id for a new run: lists of runs are ordered by ids, so it carries the database's time. */
    RunId newId() {
        return new RunId(ids.next());
    }

    String project() {
        return project;
    }

    /** The same for another project. */
    Payloads of(String other) {
        return new Payloads(other, handlers, codec, luggage, ids);
    }

    <T> NewRun run(HandlerType<T> type, T payload, Enqueue options) {
        return run(Target.handler(type.name()), encode(type, payload), options);
    }

    NewRun run(Target target, Payload payload, Enqueue options) {
        HandlerOptions handler = handlers.options(target.name());
        Priority priority = options.priority();
        String queue = options.queue();
        NewRun run = new NewRun(
                newId(),
                new Lane(queue == null ? handlers.queue(target.name()) : queue, project),
                priority == null ? handler.priority() : priority,
                Origin.DIRECT,
                target,
                checked(target.name(), payload),
                options.due(),
                options.key(),
                null,
                options.gate());
        return luggage.packed(run.holding(options.window()));
    }

    <T> Payload encode(HandlerType<T> type, @Nullable T payload) {
        if (payload == null)
            throw new CarillonException(
                    ErrorCode.PAYLOAD_UNWRITABLE,
                    "The payload for '%s' is null, which no handler could read. Enqueue a record, an empty one if there is nothing to say."
                            .formatted(type.name()));
        return checked(type.name(), new Payload(codec.encode(payload), codec.name()));
    }

    static Payload checked(String name, Payload payload) {
        if (payload.bytes().length > LIMIT)
            throw new CarillonException(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    "The payload for '%s' has %d bytes; at most %d are allowed. Store the data elsewhere and enqueue where it is."
                            .formatted(name, payload.bytes().length, LIMIT));
        return payload;
    }

    Luggage luggage() {
        return luggage;
    }

    HandlerOptions options(String name) {
        return handlers.options(name);
    }

    /** Where runs of this handler go unless they say otherwise. */
    String queue(String handler) {
        return handlers.queue(handler);
    }
}
