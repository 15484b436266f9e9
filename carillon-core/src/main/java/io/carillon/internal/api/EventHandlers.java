package io.carillon.internal.api;

import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.event.Event;
import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.EventType;
import io.carillon.event.Subscribe;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.internal.run.PublishingTicks;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.EventStore;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.HandlerType;
import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.spi.PayloadCodec;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The subscriptions that a process declares, and the conversion of their runs to events. */
public final class EventHandlers {
    /** The target of ticks whose event has a version, which needs a lock on the key: a transactional handler. */
    public static final Target VERSIONED = Target.handler("carillon.publish-versioned");

    /** A declared subscription. */
    private record Declared(EventPattern pattern, SubscriptionTarget target, Subscribe options) {}

    private final Map<String, Declared> declared = new LinkedHashMap<>();
    private @Nullable EventStore store;
    private @Nullable Function<Connection, EventStore> joiner;

    /** Adds a subscription. Throws if another one has its name. */
    public void add(String name, EventPattern pattern, SubscriptionTarget target, Subscribe options) {
        if (declared.putIfAbsent(name, new Declared(pattern, target, options)) != null)
            throw new CarillonException(
                    ErrorCode.DUPLICATE_HANDLER,
                    "Two subscriptions are named '%s'. Names of subscriptions must be unique.".formatted(name));
    }

    /** Returns the pattern of the events of a type, stored under its current or an older name. */
    public static EventPattern pattern(EventType<?> type) {
        List<String> names = new ArrayList<>(List.of(type.name()));
        names.addAll(type.olderReaders().keySet().stream().sorted().toList());
        return new EventPattern(type.topic().name(), names);
    }

    /** Stores the declared subscriptions. From now on, handlers load large data from this storage. */
    public void declareIn(Storage storage, String project, Handlers handlers) {
        EventStore events = storage.events();
        store = events;
        joiner = connection -> storage.inTransaction(connection, task -> {}).events();
        declared.forEach((name, subscription) -> {
            SubscriptionTarget target = subscription.target();
            SubscriptionDefinition definition =
                    SubscriptionDefinition.of(name, subscription.pattern(), target, subscription.options());
            if (target instanceof SubscriptionTarget.Handler)
                definition = definition
                        .queue(handlers.queue(name))
                        .priority(handlers.options(name).priority());
            events.declare(new EventStore.Declaration(project, definition, Subscription.Owner.CODE), null);
        });
    }

    /** Adds the handler of ticks that publish an event. The statement that ends a tick publishes it. */
    public static void addPublisher(Handlers handlers) {
        handlers.add(new Handlers.RegisteredHandler<Payload>(
                HandlerType.of(PublishingTicks.TARGET.name(), Payload.class),
                HandlerOptions.defaults(),
                false,
                (payload, run, connection) -> null,
                (attempt, codec) -> attempt.payload()));
    }

    /** Adds the handler of ticks whose event has a version. It publishes in the transaction that ends the tick. */
    public void addVersionedPublisher(Handlers handlers) {
        handlers.add(new Handlers.RegisteredHandler<TickEvent>(
                HandlerType.of(VERSIONED.name(), TickEvent.class),
                HandlerOptions.defaults(),
                true,
                (event, run, connection) -> {
                    EventToStore stored = event.toStore(run.project(), new EventId(Uuid7.at(run.now())));
                    requireNonNull(joiner).apply(requireNonNull(connection)).publish(List.of(stored), true);
                    return null;
                },
                (attempt, codec) -> TickEvent.parse(attempt.payload().bytes())));
    }

    /** Returns the reader for the events of one type. */
    public <T> Handlers.PayloadReader<Event<T>> typed(EventType<T> type) {
        return (attempt, codec) -> {
            Event<Payload> event =
                    load(attempt.lane().project(), attempt.payload().bytes());
            return event.withData(decode(type, event, codec));
        };
    }

    /** Returns the reader for events of any type. */
    public Handlers.PayloadReader<Event<Payload>> untyped() {
        return (attempt, codec) ->
                load(attempt.lane().project(), attempt.payload().bytes());
    }

    private Event<Payload> load(String project, byte[] payload) {
        Event<Optional<Payload>> event = EventEnvelope.parse(payload);
        EventStore events = store;
        if (event.data().isPresent()) return event.withData(event.data().get());
        return Stream.ofNullable(events)
                .flatMap(present -> present.find(project, event.id()).stream())
                .findFirst()
                .orElseThrow(() -> new CarillonException(
                        ErrorCode.PAYLOAD_UNREADABLE,
                        "The data of event %s was removed by retention. Keep events longer with eventRetention."
                                .formatted(event.id())));
    }

    static <T> T decode(EventType<T> type, Event<Payload> event, PayloadCodec codec) {
        Function<String, T> older = type.olderReaders().get(event.type());
        byte[] bytes = event.data().bytes();
        if (older == null && type.dataType() == Payload.class)
            return type.dataType().cast(event.data());
        return older == null
                ? codec.decode(bytes, type.dataType())
                : older.apply(new String(bytes, StandardCharsets.UTF_8));
    }

    /** Returns the handler type of a subscription. Its payload is read by a {@link Handlers.PayloadReader}. */
    @SuppressWarnings("unchecked") // The class is not used: a reader creates the events.
    public static <T> HandlerType<Event<T>> handlerType(String name) {
        return HandlerType.of(name, (Class<Event<T>>) (Class<?>) Event.class);
    }
}
