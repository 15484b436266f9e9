package io.carillon.internal.engine;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.event.EventDispatchStore.Cursor;
import io.carillon.internal.store.event.EventDispatchStore.Delivered;
import io.carillon.internal.store.event.EventDispatchStore.Delivery;
import io.carillon.internal.store.event.EventDispatchStore.Head;
import io.carillon.internal.store.event.EventDispatchStore.Name;
import io.carillon.internal.store.event.EventDispatchStore.Place;
import io.carillon.internal.store.event.EventDispatchStore.Subscriber;
import io.carillon.internal.store.event.EventDispatchStore.Window;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.RunId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the subscriptions that have a cursor of their own: new ones, those that were paused, and replays. They read up
 * to the place of all others and then continue with the others, without a cursor; a replay reads up to its end.
 * {@link BacklogLimiter} limits how many runs they create.
 */
final class CursorDispatcher {
    private static final Logger log = LoggerFactory.getLogger(CursorDispatcher.class);
    private static final int SUBSCRIPTIONS = 2_000;
    private static final int READ_EVENTS = 5_000;
    private static final int WRITE_RUNS = 2_000;
    private static final int MAX_WINDOW_SNAPSHOTS = 256;
    /** The time of one call. */
    private static final long MAX_NANOS = Duration.ofMillis(150).toNanos();

    private static final long RETRY_NANOS = Duration.ofSeconds(5).toNanos();

    private final EventDispatchStore store;
    private final Uuid7.Sequence runIds;
    private final LoopReports reports;
    private final BacklogLimiter limiter;
    /** Subscriptions that failed, and when they are served again. */
    private final Map<Subscriber, Long> failing = new HashMap<>();

    /** How many snapshots to read for those whose last read failed. */
    private final Map<Name, Long> narrowSnapshots = new HashMap<>();

    private final DeliveryTurns turns = new DeliveryTurns();
    private long windowSnapshots = 1;
    private long until = System.nanoTime();
    private boolean unfinished;

    CursorDispatcher(EventDispatchStore store, Uuid7.Sequence runIds, LoopReports reports) {
        this.store = store;
        this.runIds = runIds;
        this.reports = reports;
        this.limiter = new BacklogLimiter(store);
    }

    /**
     * Subscriptions that are read together. They start at one position and get at most this number of events.
     *
     * @param snapshots how many snapshots to read; 0 for the common number
     */
    private record Group(EventPosition start, int limit, long snapshots) {}

    /**
     * Brings subscriptions to this place, for a limited time: new events wait meanwhile. Returns whether there was
     * anything to do.
     */
    boolean catchUp(Place place, BooleanSupplier open) {
        until = System.nanoTime() + MAX_NANOS;
        unfinished = false;
        limiter.beginRound();
        failing.values().removeIf(retry -> System.nanoTime() - retry >= 0);
        boolean any = false;
        boolean again = true;
        while (again && open.getAsBoolean()) {
            boolean moved = false;
            Set<Subscriber> without = excluded();
            List<Cursor> late = new ArrayList<>();
            List<Name> arrived = new ArrayList<>();
            for (Cursor each : store.behind(SUBSCRIPTIONS, without)) {
                Long end = each.endsAtSnapshot();
                if (end != null && each.start().base() >= end) {
                    narrowSnapshots.remove(each.name());
                    store.endReplay(each.name());
                    moved = true;
                } else if (each.start().base() < last(each, place)) late.add(each);
                else if (end == null && each.cursor().equals(place.position())) arrived.add(each.name());
            }
            if (!arrived.isEmpty()) moved |= store.join(place, arrived) > 0;
            arrived.forEach(narrowSnapshots::remove);
            // The join has changed the place. The others join in the next round.
            if (moved && !arrived.isEmpty()) place = store.place();
            moved |= deliverInTurn(late, place, open);
            any |= moved;
            // Others may be behind those whose lane is full, and those that failed.
            again = moved || excluded().size() > without.size();
            if (again && isTimeUp()) {
                unfinished = true;
                return true;
            }
        }
        return any;
    }

    /** Returns whether the last call stopped because its time was up. */
    boolean isUnfinished() {
        return unfinished;
    }

    private boolean isTimeUp() {
        return System.nanoTime() - until >= 0;
    }

    /** Delivers one window to each subscription, until the time is up. */
    private boolean deliverInTurn(List<Cursor> late, Place place, BooleanSupplier open) {
        boolean moved = false;
        for (List<Cursor> part : turns.order(late))
            for (Map.Entry<Group, List<Cursor>> group : groups(part).entrySet()) {
                if (!open.getAsBoolean()) return moved;
                turns.served(group.getValue());
                moved |= tryDeliver(group.getKey(), group.getValue(), place);
                if (isTimeUp()) return true;
            }
        return moved;
    }

    /** Returns the subscriptions that are left out for now. */
    private Set<Subscriber> excluded() {
        Set<Subscriber> excluded = new HashSet<>(limiter.full());
        excluded.addAll(failing.keySet());
        return excluded;
    }

    /** Delivers to one group. A failure concerns this group only, so that the others do not wait for it. */
    private boolean tryDeliver(Group read, List<Cursor> group, Place place) {
        try {
            return deliver(read, group, place);
        } catch (CarillonException failure) {
            boolean narrow = read.snapshots() == 1 || (read.snapshots() == 0 && windowSnapshots == 1);
            windowSnapshots = 1;
            if (narrow || failure.code() == ErrorCode.DATABASE_UNREACHABLE) {
                group.forEach(each -> failed(each, failure));
                return false;
            }
            // The window may have had too many events. Others may widen the common one meanwhile.
            log.warn(
                    "events could not be read; will read fewer error={}",
                    ControlCharacters.escape(failure.getMessage()));
            group.forEach(each -> narrowSnapshots.put(each.name(), 1L));
            return true;
        }
    }

    private void failed(Cursor subscription, CarillonException failure) {
        if (failure.code() == ErrorCode.DATABASE_UNREACHABLE) throw failure;
        failing.put(subscription.name().subscriber(), System.nanoTime() + RETRY_NANOS);
        log.error(
                "events could not be delivered; will retry project={} subscription={} error={}",
                ControlCharacters.escape(subscription.name().project()),
                ControlCharacters.escape(subscription.name().name()),
                ControlCharacters.escape(failure.getMessage()));
    }

    private Map<Group, List<Cursor>> groups(List<Cursor> late) {
        Map<Group, List<Cursor>> groups = new LinkedHashMap<>();
        limiter.allowed(late).forEach((each, limit) -> {
            // A power of two, so that subscriptions with nearly the same limit are read together.
            Group group = new Group(
                    each.start(),
                    Math.min(READ_EVENTS, Integer.highestOneBit(limit)),
                    narrowSnapshots.getOrDefault(each.name(), 0L));
            groups.computeIfAbsent(group, key -> new ArrayList<>()).add(each);
        });
        return groups;
    }

    private static long last(Cursor subscription, Place place) {
        Long end = subscription.endsAtSnapshot();
        return end == null
                ? place.position().base()
                : Math.min(end, place.position().base());
    }

    /** Reads the events of one window for subscriptions that start at one position, and delivers them. */
    private boolean deliver(Group read, List<Cursor> group, Place place) {
        EventPosition from = read.start();
        long last = group.stream().mapToLong(each -> last(each, place)).min().orElse(from.base());
        long snapshots = read.snapshots() == 0 ? windowSnapshots : read.snapshots();
        last = Math.min(last, from.base() + snapshots);
        List<Head> heads = store.read(new Window(from, last, onlyTopic(group)), read.limit());
        boolean full = heads.size() == read.limit();
        if (full) snapshots = Math.max(1, snapshots / 2);
        else if (heads.size() < READ_EVENTS / 4) snapshots = Math.min(MAX_WINDOW_SNAPSHOTS, 2 * snapshots);
        setSnapshots(read, group, snapshots);
        EventPosition end = full ? heads.get(heads.size() - 1).position() : EventPosition.endOf(last);
        boolean moved = false;
        Map<Name, Cursor> cursors = new LinkedHashMap<>();
        group.forEach(each -> cursors.put(each.name(), each));
        for (int first = 0; first == 0 || (first < heads.size() && !isTimeUp()); ) {
            int next = endOfWrite(heads, first, group);
            EventPosition to = next == heads.size() ? end : heads.get(next - 1).position();
            moved |= write(cursors, heads.subList(first, next), to);
            first = Math.max(1, next);
        }
        return moved;
    }

    /**
     * Returns the end of the events that one statement delivers: those that make up its runs, and also many that
     * nothing selects, because a statement writes each cursor.
     */
    private int endOfWrite(List<Head> heads, int first, List<Cursor> group) {
        int next = Math.min(heads.size(), first + Math.max(1, WRITE_RUNS / Math.max(1, group.size())));
        long runs = heads.subList(first, next).stream()
                .mapToLong(head -> selecting(group, head))
                .sum();
        for (; next < heads.size() && runs < WRITE_RUNS && !isTimeUp(); next++)
            runs += selecting(group, heads.get(next));
        return next;
    }

    private static long selecting(List<Cursor> group, Head head) {
        return group.stream().filter(each -> selects(each, head)).count();
    }

    private void setSnapshots(Group read, List<Cursor> group, long snapshots) {
        if (read.snapshots() == 0) windowSnapshots = snapshots;
        else if (snapshots == MAX_WINDOW_SNAPSHOTS) group.forEach(each -> narrowSnapshots.remove(each.name()));
        else group.forEach(each -> narrowSnapshots.put(each.name(), snapshots));
    }

    /** Returns the topic if all subscriptions select one topic of one project; only that is read then. */
    private static Window.@Nullable Topic onlyTopic(List<Cursor> group) {
        Cursor first = group.get(0);
        String topic = first.pattern().topic();
        boolean one = !topic.endsWith("*")
                && group.stream()
                        .allMatch(each -> each.pattern().topic().equals(topic)
                                && each.name().project().equals(first.name().project()));
        return one ? new Window.Topic(first.name().project(), topic) : null;
    }

    /**
     * Moves the cursors. Subscriptions that another node has moved, that have changed, or that failed, are removed from
     * {@code cursors}.
     */
    private boolean write(Map<Name, Cursor> cursors, List<Head> heads, EventPosition to) {
        if (cursors.isEmpty()) return false;
        List<Delivery> deliveries =
                cursors.values().stream().map(each -> delivery(each, heads)).toList();
        Set<Name> moved;
        try {
            moved = record(store.deliver(deliveries, to, new RunId(runIds.next())));
        } catch (CarillonException failure) {
            if (failure.code() == ErrorCode.DATABASE_UNREACHABLE) throw failure;
            moved = new HashSet<>();
            for (Cursor each : cursors.values())
                try {
                    if (deliverAlone(each, heads, to)) moved.add(each.name());
                } catch (CarillonException rejected) {
                    failed(each, rejected);
                }
        }
        for (Delivery delivery : deliveries) {
            Name name = delivery.from().name();
            if (moved.contains(name)) cursors.put(name, at(delivery.from(), to));
            else cursors.remove(name);
        }
        return !moved.isEmpty();
    }

    /**
     * Delivers to one subscription after a statement was rejected: in halves, down to the event that is the cause. The
     * run of that event gets no copy of the data, which it loads from the event. If it cannot be read, the attempts
     * fail and the run is dead, where users see it.
     */
    private boolean deliverAlone(Cursor from, List<Head> heads, EventPosition to) {
        Delivery delivery = delivery(from, heads);
        try {
            return !record(store.deliver(List.of(delivery), to, new RunId(runIds.next())))
                    .isEmpty();
        } catch (CarillonException rejected) {
            if (rejected.code() == ErrorCode.DATABASE_UNREACHABLE
                    || delivery.events().isEmpty()) throw rejected;
        }
        if (delivery.events().size() == 1) {
            log.warn(
                    "data of an event cannot be copied to its run; the run loads it event={}",
                    ControlCharacters.escape(delivery.events().get(0).toString()));
            return !record(store.deliver(List.of(delivery), to, new RunId(runIds.next()), false))
                    .isEmpty();
        }
        int middle = heads.size() / 2;
        EventPosition half = heads.get(middle - 1).position();
        return deliverAlone(from, heads.subList(0, middle), half)
                && deliverAlone(at(from, half), heads.subList(middle, heads.size()), to);
    }

    private static Delivery delivery(Cursor subscription, List<Head> heads) {
        return new Delivery(
                subscription,
                heads.stream()
                        .filter(head -> selects(subscription, head))
                        .map(Head::id)
                        .toList());
    }

    /** Announces the runs. Returns the subscriptions that were moved. */
    private Set<Name> record(Delivered delivered) {
        if (!delivered.runs().isEmpty()) reports.onEventRuns(delivered.runs());
        return delivered.moved();
    }

    private static boolean selects(Cursor subscription, Head event) {
        return event.project().equals(subscription.name().project())
                && subscription.pattern().matches(event.topic(), event.type())
                && !subscription.skipped().contains(event.id());
    }

    private static Cursor at(Cursor from, EventPosition to) {
        return new Cursor(from.name(), from.version(), from.pattern(), to, to, from.endsAtSnapshot(), from.skipped());
    }
}
