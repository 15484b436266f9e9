package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.internal.run.Gate;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.RunHeaders;
import io.carillon.internal.run.UniqueKeys;
import io.carillon.internal.value.Names;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.spi.PayloadCodec;
import java.util.Optional;
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
        Payload encoded = encode(type, payload);
        String queue = checkedQueue(type, payload, options.queue());
        return newRun(Target.handler(type.name()), encoded, queue == null ? options : options.queue(queue));
    }

    /**
     * Returns the queue that the payload requires, or else the given one; null for the queue of the handler.
     *
     * @throws CarillonException with {@link ErrorCode#INVALID_OPTION} if the payload requires another queue than the
     *     given one, or if the queue belongs to an endpoint and the payload does not
     */
    public <T> @Nullable String checkedQueue(HandlerType<T> type, T payload, @Nullable String given) {
        Optional<String> required = type.payloadQueue().apply(payload);
        if (required.isPresent()) {
            if (given == null || given.equals(required.get())) return required.get();
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "queue '%s' is not allowed: this payload for '%s' requires the queue '%s'. Leave the queue out."
                            .formatted(given, type.name(), required.get()));
        }
        String queue = given == null ? handlers.queue(type.name()) : given;
        if (queue.startsWith(Names.ENDPOINT_QUEUE_PREFIX))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "queue '%s' is not allowed for '%s': queues that start with '%s' belong to webhook endpoints."
                            .formatted(queue, type.name(), Names.ENDPOINT_QUEUE_PREFIX));
        return given;
    }

    public NewRun newRun(Target target, Payload payload, Enqueue options) {
        HandlerOptions handler = handlers.options(target.name());
        Priority priority = options.priority();
        String queue = options.queue() == null ? handlers.queue(target.name()) : options.queue();
        Enqueue.KeyLimit keyLimit = options.keyLimit();
        NewRun run = new NewRun(
                newId(),
                new Lane(queue, project),
                priority == null ? handler.priority() : priority,
                Origin.DIRECT,
                target,
                requireWithinLimit(target.name(), payload),
                options.due(),
                UniqueKeys.stored(queue, options.uniqueKey()),
                null,
                keyLimit == null ? null : Gate.of(keyLimit),
                null,
                options.keyWindow(),
                new Run.Policy(options.retry(), options.timeout()),
                null);
        return runHeaders.addTo(run);
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
