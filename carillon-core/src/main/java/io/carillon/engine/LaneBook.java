package io.carillon.engine;

import static java.util.Objects.requireNonNull;

import io.carillon.engine.LaneTurns.Entry;
import io.carillon.run.Lane;
import io.carillon.run.Priority;
import io.carillon.store.ClaimRequest;
import io.carillon.store.LaneDue;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;

/** What this node knows of lanes: when each class of each will next have something to claim, and from where on to look. All of it is hints: a look finds others. */
final class LaneBook {
    /** A late commit may carry a ready time that has passed; what is older than this is found by a look from the very beginning. */
    private static final Duration LATE_COMMIT = Duration.ofSeconds(10);

    /** What was ready so long before a claim that found no more than it took is gone, or somebody names it. */
    private static final Duration BEFORE_CLAIM = Duration.ofSeconds(1);

    private static final Duration FIRST_COLD = Duration.ofMillis(10);
    private static final Duration LONGEST_COLD = Duration.ofSeconds(1);
    private static final int MOST_LANES = 1_000;

    /** A lane that has its share of the slots is looked at again after so long, if none of its runs ended earlier. */
    private static final Duration NARROW = Duration.ofMillis(250);

    private final LaneTurns turns = new LaneTurns();

    /** Those of which the last look saw instants to come. */
    private final List<Entry> foreseen = new ArrayList<>();

    private final ToIntFunction<Lane> room;
    /** Lanes that somebody weighed; all others weigh one. */
    private Map<Lane, Integer> weights = Map.of();

    private Instant lastTake = Instant.MIN;
    /** Before this instant the last look saw all there was. */
    private Instant seenUntil = Instant.MIN;
    /** The earliest instant anybody named since that look began: one for many, so that behind it others may follow. */
    private Instant namedSince = Instant.MAX;
    /** Lanes that had nothing due when somebody named a run that is ready. */
    private final Set<Lane> fresh = new LinkedHashSet<>();

    /** What a lane is owed of its last turn. */
    private final Map<Lane, Integer> owed = new HashMap<>();

    /** {@code room}: how many more of a lane this node may hold. */
    LaneBook(ToIntFunction<Lane> room) {
        this.room = room;
    }

    /** A look saw these weights. */
    synchronized void weigh(Map<Lane, Integer> seen) {
        if (seen.equals(weights)) return;
        weights = seen;
        owed.clear();
    }

    /** Somebody says that a lane has a run ready at this instant; of which class is not said. True: it is ready now, and nothing flows there. */
    synchronized boolean hint(Lane lane, Instant readyAt, Instant now) {
        boolean ready = !readyAt.isAfter(now);
        Instant at = ready ? now : readyAt;
        if (at.isBefore(namedSince)) namedSince = at;
        boolean idle = ready;
        boolean flows = false;
        for (Priority priority : Priority.values()) {
            Entry entry = turns.entry(lane, priority);
            if (!entry.readyAt().isAfter(now)) idle = false;
            entry.warm();
            Instant open = at.isBefore(entry.shutUntil) ? entry.shutUntil : at;
            if (open.isBefore(entry.readyAt())) entry.readyAt(open);
            entry.atLeastFrom(at.minus(LATE_COMMIT));
            if (entry.flowing()) flows = true;
        }
        if (idle && !flows) fresh.add(lane);
        return ready && !flows;
    }

    /** A look begins: what is named from now on it may not see. */
    synchronized void looking() {
        seenUntil = Instant.MIN;
        namedSince = Instant.MAX;
    }

    /** A look saw this, and all there is before the given instant. */
    synchronized void looked(List<LaneDue> found, Instant until) {
        seenUntil = until;
        foreseen.forEach(entry -> entry.coming.clear());
        foreseen.clear();
        LaneDue.inOrder(found).forEach(due -> {
            Entry entry = seen(due);
            if (!due.readyAt().isAfter(entry.coldUntil)) return;
            entry.coming.addLast(due.readyAt());
            foreseen.add(entry);
        });
    }

    /** A scan saw this. Lanes that are new in the book line up by how long their first run has waited. */
    synchronized void seen(List<LaneDue> found) {
        LaneDue.inOrder(found).forEach(this::seen);
    }

    private Entry seen(LaneDue due) {
        Entry entry = turns.entry(due.lane(), due.priority());
        Instant at = due.readyAt().isBefore(entry.coldUntil) ? entry.coldUntil : due.readyAt();
        if (at.isBefore(entry.shutUntil)) at = entry.shutUntil;
        if (at.isBefore(entry.readyAt())) entry.readyAt(at);
        entry.atLeastFrom(due.readyAt());
        return entry;
    }

    /** Whether nothing can become ready before {@link #nextReady}, provided that everybody names what they store. */
    synchronized boolean knowsNext() {
        if (seenUntil.equals(Instant.MIN)) return false;
        Instant next = nextReady();
        return after(seenUntil, next) && after(namedSince, next);
    }

    private static boolean after(Instant bound, Instant next) {
        return bound.equals(Instant.MAX) || next.isBefore(bound);
    }

    /** When the next known run is ready; {@link Instant#MAX}: none is known. */
    synchronized Instant nextReady() {
        return turns.next();
    }

    /**
     * Shares what the node can take among the lanes that are due: in equal parts to projects, by weight to the lanes of each, 8:4:2:1 to the classes inside.
     * The book forgets that they are due; {@link #full} brings back those that had more, and a hint that comes meanwhile stays.
     */
    synchronized List<ClaimRequest.Quota> take(int want, Instant now) {
        lastTake = now;
        Map<String, Map<Lane, Map<Priority, Entry>>> due = new LinkedHashMap<>();
        turns.due(now, new LaneTurns.Visitor() {
            private Map<Lane, Map<Priority, Entry>> lanes = new LinkedHashMap<>();
            private int found;

            @Override
            public boolean lane(Lane lane, Map<Priority, Entry> classes) {
                add(lane, classes, now, lanes);
                return lanes.size() < MOST_LANES && lanes.size() < want;
            }

            @Override
            public boolean project(String project) {
                found += lanes.size();
                if (!lanes.isEmpty()) due.put(project, lanes);
                lanes = new LinkedHashMap<>();
                return found < MOST_LANES && due.size() < want;
            }
        });
        return share(want, due, now);
    }

    /** Where some lanes had more than the node could take, what has just come to others: it is not claimed together with their many. */
    synchronized List<ClaimRequest.Quota> takeNew(int want, Instant now) {
        if (fresh.isEmpty() || !turns.anyFlowing()) return List.of();
        Map<String, Map<Lane, Map<Priority, Entry>>> due = new LinkedHashMap<>();
        for (Lane lane : fresh) {
            if (due.size() == want) break;
            Map<Lane, Map<Priority, Entry>> ready = new LinkedHashMap<>();
            add(lane, turns.classes(lane), now, ready);
            if (!ready.isEmpty())
                due.computeIfAbsent(lane.project(), project -> new LinkedHashMap<>())
                        .putAll(ready);
        }
        return share(want, due, now);
    }

    private List<ClaimRequest.Quota> share(int want, Map<String, Map<Lane, Map<Priority, Entry>>> due, Instant now) {
        List<ClaimRequest.Quota> quotas = new ArrayList<>();
        Appetite.equally(want, due.keySet()).forEach((project, part) -> {
            serve(requireNonNull(due.get(project)), part, now, quotas);
            turns.served(project);
        });
        return quotas;
    }

    /** Adds a lane that is due, unless there is no room for more of it. */
    private void add(Lane lane, Map<Priority, Entry> classes, Instant now, Map<Lane, Map<Priority, Entry>> due) {
        Map<Priority, Entry> ready = ready(classes, now);
        if (ready.isEmpty()) return;
        if (room.applyAsInt(lane) <= 0) ready.values().forEach(entry -> entry.shut(now.plus(NARROW)));
        else due.put(lane, ready);
    }

    /** Shares the part of a project among its lanes that are due. */
    private void serve(Map<Lane, Map<Priority, Entry>> due, int want, Instant now, List<ClaimRequest.Quota> quotas) {
        parts(want, due.keySet()).forEach((lane, part) -> {
            Map<Priority, Entry> classes = requireNonNull(due.get(lane));
            Map<Priority, Integer> counts = share(Math.min(part, room.applyAsInt(lane)), classes);
            classes.forEach((priority, entry) -> {
                int count = counts.getOrDefault(priority, 0);
                if (count == 0) return;
                quotas.add(new ClaimRequest.Quota(lane, priority, count, entry.low));
                entry.taken(now);
            });
            fresh.remove(lane);
            if (owed.getOrDefault(lane, 0) == 0) turns.served(lane);
        });
    }

    private static Map<Priority, Entry> ready(Map<Priority, Entry> classes, Instant now) {
        Map<Priority, Entry> ready = new EnumMap<>(Priority.class);
        classes.forEach((priority, entry) -> {
            if (!entry.readyAt().isAfter(now)) ready.put(priority, entry);
        });
        return ready;
    }

    /**
     * To each lane its weight as often as the batch has room for all of them. Where it has not, they take turns: who was cut short stays in front, and gets
     * what is left of its turn before the others come.
     */
    private Map<Lane, Integer> parts(int want, Set<Lane> due) {
        if (weights.isEmpty()) return Appetite.equally(want, due);
        Map<Lane, Integer> parts = new LinkedHashMap<>();
        int rounds = Math.max(1, want / due.stream().mapToInt(this::weight).sum());
        int left = want;
        for (Lane lane : due) {
            if (left == 0) break;
            int rest = owed.getOrDefault(lane, 0);
            int turn = rest > 0 ? rest : rounds * weight(lane);
            int part = Math.min(left, turn);
            parts.put(lane, part);
            owed.put(lane, turn - part);
            left -= part;
        }
        return parts;
    }

    private int weight(Lane lane) {
        return weights.getOrDefault(lane, 1);
    }

    /** Whole rounds by share; the rest one by one to whom most is owed, so that batches of one starve nobody either. */
    private static Map<Priority, Integer> share(int part, Map<Priority, Entry> classes) {
        int shares = classes.keySet().stream().mapToInt(Priority::share).sum();
        Map<Priority, Integer> counts = new EnumMap<>(Priority.class);
        classes.keySet().forEach(priority -> counts.put(priority, part / shares * priority.share()));
        for (int rest = part % shares; rest > 0; rest--) {
            classes.forEach((priority, entry) -> entry.credit += priority.share());
            Map.Entry<Priority, Entry> next =
                    Collections.max(classes.entrySet(), Comparator.comparingInt(one -> one.getValue().credit));
            next.getValue().credit -= shares;
            counts.merge(next.getKey(), 1, Integer::sum);
        }
        return counts;
    }

    /** A claim got all it asked for: there is probably more. The lowest of them is where the next one starts. */
    synchronized void full(Lane lane, Priority priority, Instant lowest, Instant now) {
        Entry entry = turns.entry(lane, priority);
        entry.warm();
        entry.flowing(true);
        fresh.remove(lane);
        entry.readyAt(now);
        entry.low = entry.meanwhile.isBefore(lowest) ? entry.meanwhile : lowest;
    }

    /**
     * A claim got nothing although a look had seen something: the lane is paused, its runs are for other nodes, or they hold them. What looks see of it is
     * not believed for a while that doubles each time; a hint is.
     */
    synchronized void empty(Lane lane, Priority priority, Instant now) {
        Entry entry = turns.entry(lane, priority);
        entry.flowing(false);
        entry.coming.clear();
        entry.cold = entry.cold.isZero() ? FIRST_COLD : entry.cold.multipliedBy(2);
        if (entry.cold.compareTo(LONGEST_COLD) > 0) entry.cold = LONGEST_COLD;
        entry.coldUntil = now.plus(entry.cold);
    }

    /** A limit was reached: whatever anybody says of the lane, there is no use in asking before this instant, unless {@link #room room} was made. */
    synchronized void shut(Lane lane, Priority priority, Instant until) {
        Entry entry = turns.entry(lane, priority);
        entry.warm();
        entry.shut(until);
    }

    /** A run of this lane has ended: if its limit was reached, it is not now. */
    synchronized void room(Lane lane, Instant now) {
        for (Entry entry : turns.classes(lane).values()) {
            if (!entry.shutUntil.isAfter(now)) continue;
            entry.shutUntil = Instant.MIN;
            if (now.isBefore(entry.readyAt())) entry.readyAt(now);
        }
    }

    /** A claim got some, the last of them ready at this instant, but fewer than it asked for: that was all. */
    synchronized void drained(Lane lane, Priority priority, Instant last, Instant now) {
        Entry entry = turns.entry(lane, priority);
        entry.flowing(false);
        entry.warm();
        Instant from = now.minus(BEFORE_CLAIM);
        entry.low = entry.meanwhile.isBefore(from) ? entry.meanwhile : from;
        // It also took what became ready while it was on its way.
        if (entry.meanwhile.equals(Instant.MAX)) entry.taken(last.isAfter(now) ? last : now);
    }

    /** A claim failed: nothing is known about what it asked for, so it is due again. */
    synchronized void again(List<ClaimRequest.Quota> quotas, Instant now) {
        quotas.forEach(quota -> turns.entry(quota.lane(), quota.priority()).readyAt(now));
    }

    /** Forgets all lanes: the clock that their instants were read from was set back. The next look finds them again. */
    synchronized void clear() {
        turns.clear();
        foreseen.clear();
        owed.clear();
        looking();
    }

    /** Forgets lanes without anything to do, so that the book stays as small as the work. */
    synchronized void tidy() {
        turns.tidy(lastTake);
        owed.keySet().removeIf(lane -> turns.classes(lane).isEmpty());
        fresh.removeIf(lane -> turns.classes(lane).isEmpty());
    }
}
