package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.internal.run.Gate;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.RunHeaders;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.spi.PayloadCodec;
import org.jspecify.annotations.Nullable;

/**
 * Creates the runs that are stored from the values of the caller. Rejects invalid values before anything is written.
 */
public final class RunFactory {
    private static final int MAX_PAYLOAD_BYTES = 256 * 1024;

    private final String project;
    private final Handlers handlers;
    private final PayloadCodec codec;
    private final RunHeaders runHeaders;
    private final Uuid7.Sequence ids;

    public RunFactory(
            String project, Handlers handlers, PayloadCodec codec, RunHeaders runHeaders, Uuid7.Sequence ids) {
        this.project = project;
        this.handlers = handlers;
        this.codec = codec;
        this.runHeaders = runHeaders;
        this.ids = ids;
    }

    /**
     * Returns the id of a new run. Lists of runs are ordered by id, so the id contains the time of the database clock.
     */
    public RunId newId() {
        return new RunId(ids.next());
    }

    public String project() {
        return project;
    }

    /** Returns a factory for another project with the same handlers and codec. */
    public RunFactory forProject(String other) {
        return new RunFactory(other, handlers, codec, runHeaders, ids);
    }

    public <T> NewRun newRun(HandlerType<T> type, T payload, Enqueue options) {
        return newRun(Target.handler(type.name()), encode(type, payload), options);
    }

    public NewRun newRun(Target target, Payload payload, Enqueue options) {
        HandlerOptions handler = handlers.options(target.name());
        Priority priority = options.priority();
        String queue = options.queue();
        Enqueue.KeyLimit keyLimit = options.keyLimit();
        NewRun run = new NewRun(
                newId(),
                new Lane(queue == null ? handlers.queue(target.name()) : queue, project),
                priority == null ? handler.priority() : priority,
                Origin.DIRECT,
                target,
                requireWithinLimit(target.name(), payload),
                options.due(),
                options.uniqueKey(),
                null,
                keyLimit == null ? null : Gate.of(keyLimit));
        return runHeaders.addTo(run.withKeyWindow(options.keyWindow()));
    }

    public <T> Payload encode(HandlerType<T> type, @Nullable T payload) {
        if (payload == null)
            throw new CarillonException(
                    ErrorCode.PAYLOAD_UNWRITABLE,
                    "The payload for '%s' is null. Pass a value; use an empty record if the handler needs no data."
                            .formatted(type.name()));
        return requireWithinLimit(type.name(), new Payload(codec.encode(payload), codec.name()));
    }

    public static Payload requireWithinLimit(String name, Payload payload) {
        if (payload.bytes().length > MAX_PAYLOAD_BYTES)
            throw new CarillonException(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    ("The payload for '%s' has %d bytes; at most %d bytes are allowed. Store the data elsewhere and"
                                    + " pass a reference.")
                            .formatted(name, payload.bytes().length, MAX_PAYLOAD_BYTES));
        return payload;
    }

    public PayloadCodec codec() {
        return codec;
    }

    public RunHeaders runHeaders() {
        return runHeaders;
    }

    public HandlerOptions handlerOptions(String name) {
        return handlers.options(name);
    }

    /** Returns the default queue for runs of this handler. */
    public String queueOf(String handler) {
        return handlers.queue(handler);
    }
}
