package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.event.Event;
import io.carillon.event.EventFilter;
import io.carillon.event.EventId;
import io.carillon.event.EventSources;
import io.carillon.event.Events;
import io.carillon.event.NewEvent;
import io.carillon.event.PublishResult;
import io.carillon.event.Relays;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionChange;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.event.TopicInfo;
import io.carillon.internal.store.AdminPorts;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.EventStore;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.store.event.RelayStore;
import io.carillon.internal.store.event.SourceStore;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.value.Names;
import io.carillon.internal.value.TextCleaner;
import io.carillon.run.Payload;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The events and subscriptions of one project: checks values before anything is written. */
public final class ProjectEvents implements Events {
    private static final int MAX_PAGE = 1_000;
    private static final int MAX_REASON = 500;

    private final RunFactory runFactory;
    private final EventStore store;
    private final RunAdmin runs;
    private final RelayStore relays;
    private final SourceStore sources;
    private final Wake wake;

    /**
     * What follows a change.
     *
     * @param notifyNodes whether a publish adds a notification
     * @param published runs after events were stored
     * @param changed runs after a subscription changed
     */
    public record Wake(boolean notifyNodes, Runnable published, Runnable changed) {}

    public ProjectEvents(RunFactory runFactory, AdminPorts ports, Wake wake) {
        this.runFactory = runFactory;
        this.store = ports.events();
        this.runs = ports.runs();
        this.relays = ports.relays();
        this.sources = ports.sources();
        this.wake = wake;
    }

    @Override
    public PublishResult publish(NewEvent<?> event) {
        return publishAll(List.of(event)).get(0);
    }

    @Override
    public List<PublishResult> publishAll(Collection<? extends NewEvent<?>> events) {
        if (events.isEmpty()) return List.of();
        List<EventToStore> encoded =
                events.stream().map(event -> encode(runFactory, event)).toList();
        List<PublishResult> results = store.publish(encoded, wake.notifyNodes());
        wake.published().run();
        return results;
    }

    static EventToStore encode(RunFactory runFactory, NewEvent<?> event) {
        String name = event.type().name();
        boolean versioned = event.type().topic().versioned();
        if (versioned && event.key() == null)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Events of the topic '%s' need a key, because the topic has versions. Set it with key(…)."
                            .formatted(event.type().topic().name()));
        Payload data = TickEvent.encode(event, runFactory.codec());
        return new EventToStore(
                runFactory.project(),
                new EventId(runFactory.newId().value()),
                event.type().topic().name(),
                name,
                event.key(),
                versioned,
                event.expectedVersion().isPresent() ? event.expectedVersion().getAsLong() : null,
                RunFactory.requireWithinLimit(name, data),
                event.publishId(),
                event.headers());
    }

    @Override
    public Optional<Event<Payload>> get(EventId id) {
        return store.find(runFactory.project(), id);
    }

    private static int checkLimit(int limit) {
        if (limit < 1 || limit > MAX_PAGE)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "limit must be between 1 and %d (was %d).".formatted(MAX_PAGE, limit));
        return limit;
    }

    @Override
    public Page list(EventFilter filter, String after, int limit) {
        checkLimit(limit);
        EventPosition from = after.isEmpty() ? EventPosition.endOf(0) : EventPosition.parse(after);
        EventStore.EventRead read = store.read(runFactory.project(), filter, from, limit);
        return new Page(
                read.events().stream().map(EventStore.PositionedEvent::event).toList(),
                read.events().stream().map(each -> each.position().toString()).toList(),
                read.next().toString(),
                read.atEnd());
    }

    @Override
    public List<Event<Payload>> latest(EventFilter filter, int limit) {
        return store.latest(runFactory.project(), filter, checkLimit(limit));
    }

    @Override
    public String end() {
        return store.end().toString();
    }

    @Override
    public String before(Instant at) {
        return store.before(at).toString();
    }

    @Override
    public List<TopicInfo> topics() {
        return store.topics(runFactory.project());
    }

    @Override
    public List<Run> deliveries(EventId id, int limit) {
        List<RunId> found = store.deliveries(runFactory.project(), id, checkLimit(limit));
        if (found.isEmpty()) return List.of();
        return runs.get(runFactory.project(), found).stream()
                .sorted(Comparator.comparing((Run run) -> run.id().value().toString())
                        .reversed())
                .toList();
    }

    @Override
    public List<Subscription> subscriptions(String after, int limit) {
        return store.subscriptions(runFactory.project(), after, checkLimit(limit));
    }

    @Override
    public Optional<Subscription> subscription(String name) {
        return store.subscription(runFactory.project(), name);
    }

    @Override
    public SubscriptionChange subscribe(SubscriptionDefinition definition) {
        return declare(definition, null);
    }

    @Override
    public SubscriptionChange subscribe(SubscriptionDefinition definition, long expectedVersion) {
        return declare(definition, expectedVersion);
    }

    private SubscriptionChange declare(SubscriptionDefinition definition, @Nullable Long expectedVersion) {
        String queue = definition.queue();
        boolean ofEndpoint = queue != null && queue.startsWith(Names.ENDPOINT_QUEUE_PREFIX);
        if (definition.target() instanceof SubscriptionTarget.Endpoint endpoint
                ? queue != null && !queue.equals(Names.ENDPOINT_QUEUE_PREFIX + endpoint.name())
                : ofEndpoint)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    ("queue '%s' is not allowed for subscription '%s': an endpoint has a queue of its own, which no"
                                    + " handler uses. Leave the queue out.")
                            .formatted(queue, definition.name()));
        SubscriptionDefinition complete =
                definition.target() instanceof SubscriptionTarget.Handler handler && queue == null
                        ? definition.queue(runFactory.queueOf(handler.name()))
                        : definition;
        SubscriptionChange change = store.declare(
                new EventStore.Declaration(runFactory.project(), complete, Subscription.Owner.API), expectedVersion);
        wake.changed().run();
        return change;
    }

    @Override
    public boolean pause(String name, String reason, @Nullable String by) {
        return store.pause(runFactory.project(), name, TextCleaner.clean(reason, MAX_REASON), by);
    }

    @Override
    public boolean resume(String name) {
        boolean resumed = store.resume(runFactory.project(), name);
        if (resumed) wake.changed().run();
        return resumed;
    }

    @Override
    public long replay(String name, Instant from, Instant to) {
        if (!from.isBefore(to))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "from must be before to (was %s and %s).".formatted(from, to));
        long number = runFactory.newId().value().getMostSignificantBits() >>> 1;
        store.replay(new EventStore.Replay(runFactory.project(), name, number, from, to));
        wake.changed().run();
        return number;
    }

    @Override
    public boolean skip(String name, EventId event) {
        return store.skip(runFactory.project(), name, event);
    }

    @Override
    public boolean unsubscribe(String name) {
        return store.remove(runFactory.project(), name);
    }

    @Override
    public Relays relays() {
        return new ProjectRelays(runFactory.project(), relays);
    }

    @Override
    public EventSources sources() {
        return new ProjectSources(runFactory.project(), sources);
    }
}
