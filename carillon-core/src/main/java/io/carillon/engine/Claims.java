package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.Priority;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Claimed;
import io.carillon.store.LaneDue;
import io.carillon.store.LaneStore;
import io.carillon.store.RunStore;
import io.carillon.store.Storage;
import io.carillon.store.Suspicion;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One claim from question to dispatch: asks for the quotas, tells the book what the answer means, and lays what was got in the ready queue. The claimer makes
 * them one after the other; while it waits for the answer to a large one, a small one may go beside it, and no more than that.
 */
final class Claims {
    private static final Logger log = LoggerFactory.getLogger(Claims.class);

    /** A claim of fewer is soon answered: nobody needs to overtake it. */
    private static final int LARGE = 50;

    private final RunStore runs;
    private final LaneStore lanes;
    private final LaneBook book;
    private final Node node;
    private final Waking.Recruiter recruiter;
    /** Handlers that other nodes have and this one has not. */
    private final Set<String> strangers = ConcurrentHashMap.newKeySet();

    private final SeenHandlers seen;

    private volatile Set<Lane> limited = Set.of();
    private volatile boolean large;
    private boolean beside;

    Claims(Storage storage, LaneBook book, Node node, Waking.Recruiter recruiter) {
        this.runs = storage.runs();
        this.lanes = storage.lanes();
        this.book = book;
        this.node = node;
        this.recruiter = recruiter;
        this.seen = new SeenHandlers(node.handlers().names());
    }

    /** How many a claim got, and whether some lane had less than was asked for. */
    record Answer(int got, boolean exhausted) {
        private static final Answer NONE = new Answer(0, false);

        private Answer and(Answer other) {
            return new Answer(got + other.got, exhausted || other.exhausted);
        }
    }

    /** A look saw that these lanes have limits. */
    void limited(Set<Lane> seen) {
        limited = seen;
    }

    boolean limited(Lane lane) {
        return limited.contains(lane);
    }

    /** Remembers whose runs these are; leaves out those of strangers. */
    List<LaneDue> own(List<LaneDue> due) {
        List<LaneDue> own =
                due.stream().filter(one -> !strangers.contains(one.handler())).toList();
        own.forEach(one -> seen.add(one.lane(), one.handler()));
        return own;
    }

    /** Asks for handlers that were seen there, and for the one of the lane's name; for all that are no strangers, if that is none. */
    private ClaimRequest.Quota named(ClaimRequest.Quota quota) {
        String queue = quota.lane().queue();
        Set<String> handlers = new HashSet<>(seen.in(quota.lane()));
        if (node.handlers().names().contains(queue)) handlers.add(queue);
        handlers.removeAll(strangers);
        return quota.of(handlers);
    }

    /** Those who knew the handlers this node does not may be gone. */
    void forgetStrangers() {
        strangers.clear();
    }

    /** For the claimer alone. */
    Answer claim(List<ClaimRequest.Quota> quotas, boolean ahead, Instant now) {
        if (quotas.stream().mapToInt(ClaimRequest.Quota::count).sum() < LARGE) return ask(quotas, ahead, now);
        large(true);
        try {
            return ask(quotas, ahead, now);
        } finally {
            large(false);
        }
    }

    private synchronized void large(boolean now) {
        large = now;
    }

    /** Whether the claimer waits for the answer to a large claim. */
    boolean large() {
        return large;
    }

    /** A small claim beside a large one; without one the claimer goes itself. */
    void claimBeside(List<ClaimRequest.Quota> quotas, Instant now) {
        synchronized (this) {
            beside = large;
            if (!beside) {
                book.again(quotas, now);
                return;
            }
        }
        try {
            ask(quotas, true, now);
        } finally {
            synchronized (this) {
                beside = false;
            }
        }
    }

    /** Whether all answers are in: asked by the claimer between two claims of its own, when no other can begin. */
    synchronized boolean quiet() {
        return !beside;
    }

    private Answer ask(List<ClaimRequest.Quota> quotas, boolean ahead, Instant now) {
        List<ClaimRequest.Quota> free = new ArrayList<>();
        List<ClaimRequest.Quota> under = new ArrayList<>();
        for (ClaimRequest.Quota quota : quotas) (limited(quota.lane()) ? under : free).add(quota);
        try {
            Answer first = ask(free, runs::claim, ahead, now);
            free.clear();
            return first.and(ask(under, lanes::claim, ahead, now));
        } catch (RuntimeException | Error failure) {
            book.again(free, now);
            book.again(under, now);
            throw failure;
        }
    }

    private Answer ask(
            List<ClaimRequest.Quota> quotas, Function<ClaimRequest, Claimed> door, boolean ahead, Instant now) {
        if (quotas.isEmpty()) return Answer.NONE;
        UUID owner = node.id();
        long note = node.holding().nextNote();
        List<ClaimRequest.Quota> named = quotas.stream().map(this::named).toList();
        Claimed claimed = door.apply(new ClaimRequest(owner, named, strangers, null, note));
        boolean exhausted = learn(quotas, claimed, now);
        take(owner, claimed.attempts(), note, ahead);
        node.holding().noted(owner, note, claimed.attempts().size());
        return new Answer(claimed.attempts().size(), exhausted);
    }

    private record Stream(Lane lane, Priority priority) {}

    private boolean learn(List<ClaimRequest.Quota> quotas, Claimed claimed, Instant now) {
        Map<Stream, Integer> got = new HashMap<>();
        Map<Stream, Instant> lowest = new HashMap<>();
        Map<Stream, Instant> highest = new HashMap<>();
        for (int i = 0; i < claimed.attempts().size(); i++) {
            Attempt attempt = claimed.attempts().get(i);
            Stream stream = new Stream(attempt.lane(), attempt.priority());
            got.merge(stream, 1, Integer::sum);
            seen.add(attempt.lane(), attempt.target().name());
            // They come in order: the first of each is its lowest, and the last its highest.
            lowest.putIfAbsent(stream, claimed.readyAt().get(i));
            highest.put(stream, claimed.readyAt().get(i));
        }
        boolean exhausted = false;
        for (ClaimRequest.Quota quota : quotas) {
            Stream stream = new Stream(quota.lane(), quota.priority());
            int count = got.getOrDefault(stream, 0);
            Instant shut = claimed.shut().get(quota.lane());
            if (shut != null) {
                book.shut(quota.lane(), quota.priority(), shut);
                continue;
            }
            if (count >= quota.count()) {
                book.full(quota.lane(), quota.priority(), lowest.getOrDefault(stream, now), now);
                recruiter.more(quota.lane());
                continue;
            }
            exhausted = true;
            if (count == 0) book.empty(quota.lane(), quota.priority(), now);
            else book.drained(quota.lane(), quota.priority(), highest.getOrDefault(stream, now), now);
        }
        return exhausted;
    }

    /** Lays what this node can handle in the ready queue, and lets the rest go. */
    private void take(UUID owner, List<Attempt> attempts, long note, boolean ahead) {
        if (attempts.isEmpty()) return;
        List<Attempt> unknown = new ArrayList<>();
        List<Held> known = new ArrayList<>(attempts.size());
        for (Attempt attempt : attempts) {
            if (node.handlers().find(attempt).isPresent()) known.add(node.hold(owner, attempt, note));
            else unknown.add(attempt);
        }
        node.dispatch(known, ahead);
        if (unknown.isEmpty()) return;
        Set<String> names =
                unknown.stream().map(attempt -> attempt.target().name()).collect(Collectors.toSet());
        log.warn("runs passed on, no handler on this node names={} runs={}", names, unknown.size());
        // What nobody knows goes on being claimed until all of it is parked; what others know is theirs.
        strangers.addAll(runs.passOn(owner, unknown));
        unknown.forEach(attempt -> seen.remove(attempt.lane(), attempt.target().name()));
    }

    /**
     * Which handlers were seen to have runs in a lane, so that a claim asks for those only. Looks bring back what was forgotten, so the memory is bounded: when
     * too many lanes were seen it begins anew, and of each lane it keeps a bounded number of handlers that this node does not have.
     */
    static final class SeenHandlers {
        static final int MOST_LANES = 100_000;

        /** Runs of so many handlers that this node does not have are claimed from a lane at a time, to be passed on. */
        static final int MOST_UNKNOWN = 50;

        private final Set<String> own;
        private final Map<Lane, Set<String>> seen = new ConcurrentHashMap<>();

        /** {@code own}: the handlers of this node. */
        SeenHandlers(Set<String> own) {
            this.own = own;
        }

        void add(Lane lane, String handler) {
            Set<String> names = seen.get(lane);
            if (names == null) {
                if (seen.size() >= MOST_LANES) seen.clear();
                names = seen.computeIfAbsent(lane, l -> ConcurrentHashMap.newKeySet());
            }
            if (own.contains(handler)
                    || names.stream().filter(name -> !own.contains(name)).count() < MOST_UNKNOWN) names.add(handler);
        }

        /** A handler whose runs were passed on makes room for others; a look that finds more of its runs brings it back. */
        void remove(Lane lane, String handler) {
            seen.computeIfPresent(lane, (l, names) -> {
                names.remove(handler);
                return names.isEmpty() ? null : names;
            });
        }

        Set<String> in(Lane lane) {
            return seen.getOrDefault(lane, Set.of());
        }

        int lanes() {
            return seen.size();
        }
    }

    /**
     * Tries runs that may kill their node: a group of them at a time, while this node runs nothing else. Only so its death, if it dies, proves something. It
     * takes at most half of this node's time, and the store lets one node of the cluster do it at a time.
     */
    final class Isolation {
        private final Appetite appetite;
        private List<Held> group = List.of();
        private boolean started;
        private long startNanos;
        private long since;
        private long restUntil = System.nanoTime();

        Isolation(Appetite appetite) {
            this.appetite = appetite;
        }

        /** How long the ordinary runs of this node have it for themselves. */
        long restNanos() {
            return restUntil - System.nanoTime();
        }

        /** Claims the next group, if it is time; false: there is none for this node now. {@code busy}: this node has ordinary runs. */
        boolean claim(boolean busy) {
            int most = free();
            if (most == 0) return false;
            UUID owner = node.id();
            long note = node.holding().nextNote();
            long asked = System.nanoTime();
            List<Attempt> claimed = runs.claimSuspects(
                    new RunStore.ClaimSuspects(owner, node.handlers().names(), most, busy, note, null));
            if (claimed.isEmpty()) return false;
            group = claimed.stream()
                    .map(attempt -> node.hold(owner, attempt, note))
                    .toList();
            node.holding().noted(owner, note, claimed.size());
            started = false;
            since = asked;
            return true;
        }

        /** The slots that are free when a group starts: all but those of long runs, which may go on for hours. */
        private int free() {
            long kept = node.holding().all().stream()
                    .filter(one -> one.parked() && one.running() && !one.abandoned())
                    .count();
            return appetite.beside((int) kept);
        }

        /**
         * Whether nothing else may be claimed. The group starts when all others have ended or have shown that they are harmless, and is over when the same is
         * true of all its runs.
         */
        boolean active(boolean claiming) {
            if (group.isEmpty()) return false;
            UUID owner = group.get(0).owner();
            if (!started && !(claiming && owner.equals(node.id())))
                node.holding().handBack(runs, owner, group);
            group = group.stream().filter(this::unproven).toList();
            if (!started && !group.isEmpty() && quiet() && othersHarmless()) start(owner);
            if (started) handBackUnstarted();
            if (!group.isEmpty()) return true;
            long now = System.nanoTime();
            restUntil = now + (now - since);
            appetite.keepForOthers(true);
            return false;
        }

        private boolean othersHarmless() {
            return node.holding().all().stream().allMatch(one -> one.parked() || one.over() || group.contains(one));
        }

        /** Others of this node may have shown since the claim that they are long: what their slots were meant for goes back. */
        private void start(UUID owner) {
            int free = free();
            if (free < group.size()) {
                node.holding().handBack(runs, owner, group.subList(free, group.size()));
                group = List.copyOf(group.subList(0, free));
            }
            started = true;
            startNanos = System.nanoTime();
            appetite.keepForOthers(false);
            node.dispatch(group, false);
        }

        /** What waits for something that long runs have, such as a transaction, is not waited for longer than for a run that goes on. */
        private void handBackUnstarted() {
            if (group.stream().anyMatch(Held::started)) return;
            Duration waited = Duration.ofNanos(System.nanoTime() - startNanos);
            if (group.stream().anyMatch(one -> waited.compareTo(probation(one)) > 0)) appetite.handBackQueued();
        }

        private static Duration probation(Held held) {
            return Suspicion.probation(held.attemptValue().counts().suspicions());
        }

        private boolean unproven(Held held) {
            return node.holding().find(held.id()).filter(held::equals).isPresent()
                    && held.sinceStart().compareTo(probation(held)) < 0;
        }
    }
}
