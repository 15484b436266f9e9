package io.carillon.internal.engine.relay;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.event.Event;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.RelayStore;
import io.carillon.internal.store.event.RelayStore.Advance;
import io.carillon.internal.store.event.RelayStore.Decided;
import io.carillon.internal.store.event.RelayStore.HeldEvent;
import io.carillon.internal.store.event.RelayStore.Lease;
import io.carillon.internal.store.event.RelayStore.Name;
import io.carillon.internal.store.event.RelayStore.Positioned;
import io.carillon.internal.store.event.RelayStore.State;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.TextCleaner;
import io.carillon.run.Payload;
import io.carillon.spi.EventRelay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the events of one relay while this node has its lease. A round reads a batch behind the cursor, sends it with a
 * mark, and moves the cursor; the next batch is not sent before. So the cursor is at most one batch behind the
 * destination, and the mark says which.
 */
final class RelayLoop implements Loop.Task {
    private static final Logger log = LoggerFactory.getLogger(RelayLoop.class);

    private static final long WITHOUT_LEASE_NANOS = Duration.ofSeconds(1).toNanos();
    /** Events of another node are found after this time. */
    private static final long POLL_NANOS = Duration.ofMillis(250).toNanos();
    /** After failing this long, the node leaves the relay to others for a while: it may be the only one that fails. */
    private static final long GIVE_UP_NANOS = Duration.ofSeconds(20).toNanos();

    private static final long PAUSE_NANOS = Duration.ofSeconds(6).toNanos();
    /** A cursor without events is written after this time, or when it is this many snapshots behind. */
    private static final long IDLE_CURSOR_NANOS = Duration.ofSeconds(10).toNanos();

    private static final int IDLE_CURSOR_SNAPSHOTS = 500;
    private static final int MAX_EVENTS = 2_000;
    private static final long MAX_BYTES = 4L << 20;
    private static final long MAX_WINDOW_SNAPSHOTS = 1_024;
    private static final int MAX_ERROR = 2_000;

    private final Name name;
    private final EventRelay relay;
    private final RelayStore store;
    private final Loop loop;
    private volatile @Nullable Lease lease;
    private volatile long pausedUntil = System.nanoTime();

    private EventRelay.@Nullable Sender sender;
    private @Nullable Lease openedFor;
    private @Nullable Examined examined;
    private long windowSnapshots = 1;
    private int maxEvents = MAX_EVENTS;
    private int maxDecided = MAX_EVENTS;
    private long failingSince;
    private boolean failing;

    /** Up to where this node has read behind a cursor without finding an event. */
    private record Examined(EventPosition cursor, EventPosition upTo, long since) {}

    RelayLoop(String project, EventRelay relay, RelayStore store) {
        this.name = new Name(project, relay.name());
        this.relay = relay;
        this.store = store;
        this.loop = new Loop("relay-" + relay.name(), true, this);
    }

    Name name() {
        return name;
    }

    Loop loop() {
        return loop;
    }

    boolean wantsLease() {
        return System.nanoTime() - pausedUntil >= 0;
    }

    boolean hasLease() {
        return lease != null;
    }

    void setLease(@Nullable Lease held) {
        boolean gained = held != null && !held.equals(lease);
        lease = held;
        if (gained) loop.wake();
    }

    @Override
    public void runRound() throws Exception {
        Lease held = lease;
        if (held == null || !wantsLease()) {
            closeSender();
            loop.sleep(WITHOUT_LEASE_NANOS);
            return;
        }
        if (sender == null || !held.equals(openedFor)) open(held);
        if (!work(held)) loop.sleep(POLL_NANOS);
    }

    /**
     * Opens a sender, which ends all earlier ones. Only then the cursor is read: no other node can move it any more.
     */
    private void open(Lease held) throws Exception {
        closeSender();
        EventRelay.Sender opened = relay.open(name.project());
        sender = opened;
        openedFor = held;
        examined = null;
        maxEvents = MAX_EVENTS;
        maxDecided = MAX_EVENTS;
        Optional<State> state = store.state(held);
        if (state.isEmpty()) {
            leaseLost(held);
            return;
        }
        Optional<RelayMark> mark = opened.lastMark().flatMap(RelayMark::parse);
        if (mark.isPresent()) recordAccepted(held, state.get(), mark.get());
        log.info(
                "relay started relay={} destination={} epoch={}",
                ControlCharacters.escape(name.name()),
                ControlCharacters.escape(relay.destination()),
                held.epoch());
    }

    /** Records a batch that the destination has accepted, if the database does not know it yet. */
    private void recordAccepted(Lease held, State state, RelayMark mark) {
        if (mark instanceof RelayMark.Current current && current.from().equals(state.cursor())) {
            List<Positioned> read = store.read(
                    name.project(),
                    relay.topic().name(),
                    new RelayStore.Window(state.start(), current.to().snapshot(), current.read(), Long.MAX_VALUE));
            boolean same = read.size() == current.read()
                    && read.get(read.size() - 1).position().equals(current.to())
                    && read.get(read.size() - 1).event().id().equals(current.last());
            if (same) passed(held, state, read, current.to(), null);
            else
                log.warn(
                        "relay does not know the last batch of its destination; sending from the cursor relay={}",
                        ControlCharacters.escape(name.name()));
        } else if (mark instanceof RelayMark.Decided sent)
            store.decided(held, sent.first(), sent.rows(), Long.MAX_VALUE)
                    .filter(found -> found.rows().size() == sent.rows())
                    .ifPresent(found -> store.removeHeld(
                            held, found.rows(), found.next(), found.events().size()));
    }

    /** Does one batch. Returns whether there may be more to do. */
    private boolean work(Lease held) throws Exception {
        State state = store.state(held).orElse(null);
        if (state == null) {
            leaseLost(held);
            return false;
        }
        // Keys may not be blocked any more after this, so the next round reads the state again.
        if (state.decided() && sendDecided(held)) return true;
        if (state.blockedKeys().size() > RelayStore.MAX_BLOCKED_KEYS)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    ("%d keys are blocked by rejected events. The relay continues when an operator has retried or"
                                    + " skipped some of them.")
                            .formatted(RelayStore.MAX_BLOCKED_KEYS));
        boolean sent = sendBehind(held, state);
        if (failing) {
            failing = false;
            store.report(held, null);
        }
        return sent;
    }

    private boolean sendBehind(Lease held, State state) throws Exception {
        Examined known = examined != null && examined.cursor().equals(state.cursor()) ? examined : null;
        EventPosition from = known == null ? state.start() : known.upTo();
        if (from.base() >= state.latest()) return false;
        long last = Math.min(state.latest(), from.base() + windowSnapshots);
        List<Positioned> read = store.read(
                name.project(), relay.topic().name(), new RelayStore.Window(from, last, maxEvents, MAX_BYTES));
        boolean full = read.size() == maxEvents || bytes(read) >= MAX_BYTES;
        if (full) windowSnapshots = Math.max(1, windowSnapshots / 2);
        else if (read.size() < MAX_EVENTS / 4) windowSnapshots = Math.min(MAX_WINDOW_SNAPSHOTS, 2 * windowSnapshots);
        EventPosition to = full ? read.get(read.size() - 1).position() : EventPosition.endOf(last);
        if (read.isEmpty()) nothingFound(held, state.cursor(), known, to);
        else send(held, state, read, to);
        return full || to.base() < state.latest();
    }

    private static long bytes(List<Positioned> read) {
        return read.stream().mapToLong(one -> one.event().data().bytes().length).sum();
    }

    /** Writes the cursor at most every 10 s or 500 snapshots, so that a relay without events writes little. */
    private void nothingFound(Lease held, EventPosition cursor, @Nullable Examined known, EventPosition to) {
        long since = known == null ? System.nanoTime() : known.since();
        boolean due = System.nanoTime() - since > IDLE_CURSOR_NANOS
                || to.snapshot() - cursor.snapshot() > IDLE_CURSOR_SNAPSHOTS;
        if (due) advance(held, new Advance(cursor, to, 0, List.of()));
        else examined = new Examined(cursor, to, since);
    }

    private void send(Lease held, State state, List<Positioned> read, EventPosition to) throws Exception {
        List<Positioned> sendable = read.stream()
                .filter(one -> !isBlocked(state.blockedKeys(), one.event()))
                .toList();
        if (!sendable.isEmpty()) {
            Positioned last = read.get(read.size() - 1);
            RelayMark mark = new RelayMark.Current(
                    state.cursor(), last.position(), read.size(), last.event().id());
            try {
                sendAll(sendable, mark);
            } catch (EventRelay.EventRejectedException rejected) {
                rejected(held, state, read, sendable, rejected);
                return;
            }
        }
        maxEvents = MAX_EVENTS;
        passed(held, state, read, to, null);
    }

    private static boolean isBlocked(Set<String> blockedKeys, Event<Payload> event) {
        String key = event.key();
        return key != null && blockedKeys.contains(key);
    }

    private void sendAll(List<Positioned> events, RelayMark mark) throws Exception {
        EventRelay.Sender open = sender;
        if (open == null) throw new IllegalStateException("the sender is closed");
        open.send(new EventRelay.Batch(
                name.project(), events.stream().map(Positioned::event).toList(), mark.text()));
    }

    /**
     * An event that was rejected alone is held. From a larger batch, first the events before the one that may be the
     * rejected one are sent, then this event alone.
     */
    private void rejected(
            Lease held,
            State state,
            List<Positioned> read,
            List<Positioned> sendable,
            EventRelay.EventRejectedException rejected) {
        Positioned suspect = sendable.get(rejected.index());
        int before = read.indexOf(suspect);
        if (rejected.index() > 0 || sendable.size() > 1) {
            maxEvents = rejected.index() > 0 ? before : before + 1;
            return;
        }
        maxEvents = MAX_EVENTS;
        log.error(
                "event rejected by the destination relay={} event={} key={} error={}",
                ControlCharacters.escape(name.name()),
                suspect.event().id(),
                ControlCharacters.escape(String.valueOf(suspect.event().key())),
                ControlCharacters.escape(text(rejected)));
        passed(held, state, read.subList(0, before + 1), suspect.position(), text(rejected));
    }

    /**
     * Moves the cursor behind events that were sent or are held.
     *
     * @param rejection why the last of them was rejected; null if none was
     */
    private void passed(Lease held, State state, List<Positioned> read, EventPosition to, @Nullable String rejection) {
        List<HeldEvent> rows = new ArrayList<>();
        for (int i = 0; i < read.size(); i++) {
            Positioned one = read.get(i);
            String reason = i == read.size() - 1 ? rejection : null;
            boolean waits = isBlocked(state.blockedKeys(), one.event());
            if (!waits && reason == null) continue;
            boolean blocks =
                    waits || (one.event().key() != null && relay.rejection() == EventRelay.Rejection.BLOCK_KEY);
            rows.add(new HeldEvent(one.position(), one.event().id(), one.event().key(), blocks, reason));
        }
        advance(held, new Advance(state.cursor(), to, read.size() - rows.size(), rows));
    }

    private void advance(Lease held, Advance advance) {
        examined = null;
        if (!store.advance(held, advance)) leaseLost(held);
    }

    /** Sends held events about which an operator has decided. Returns whether it did anything. */
    private boolean sendDecided(Lease held) throws Exception {
        Optional<Decided> found = store.decided(held, null, maxDecided, MAX_BYTES);
        if (found.isEmpty()) return false;
        Decided decided = found.get();
        EventPosition first = decided.rows().get(0);
        if (!decided.events().isEmpty()) {
            try {
                sendAll(
                        decided.events(),
                        new RelayMark.Decided(first, decided.rows().size()));
            } catch (EventRelay.EventRejectedException rejected) {
                EventPosition suspect = decided.events().get(rejected.index()).position();
                int before = decided.rows().indexOf(suspect);
                if (before > 0 || decided.rows().size() > 1) maxDecided = Math.max(1, before);
                else {
                    maxDecided = MAX_EVENTS;
                    store.rejectAgain(held, suspect, text(rejected));
                }
                return true;
            }
        }
        maxDecided = MAX_EVENTS;
        store.removeHeld(held, decided.rows(), decided.next(), decided.events().size());
        return true;
    }

    private void leaseLost(Lease held) {
        log.info(
                "relay continues on another node relay={} epoch={}",
                ControlCharacters.escape(name.name()),
                held.epoch());
        if (held.equals(lease)) lease = null;
        closeSender();
    }

    @Override
    public void onFailure(Throwable failure) {
        closeSender();
        windowSnapshots = 1;
        Lease held = lease;
        if (held == null) return;
        if (!failing) failingSince = System.nanoTime();
        failing = true;
        if (System.nanoTime() - failingSince > GIVE_UP_NANOS) {
            failingSince = System.nanoTime();
            pausedUntil = System.nanoTime() + PAUSE_NANOS;
        }
        store.report(held, text(failure));
    }

    private static String text(Throwable failure) {
        String message = failure.getMessage();
        return TextCleaner.clean(message == null ? failure.getClass().getSimpleName() : message, MAX_ERROR);
    }

    @Override
    public void onEnd() {
        closeSender();
    }

    private void closeSender() {
        EventRelay.Sender open = sender;
        sender = null;
        openedFor = null;
        if (open != null) open.close();
    }
}
