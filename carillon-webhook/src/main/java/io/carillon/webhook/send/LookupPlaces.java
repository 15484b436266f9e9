package io.carillon.webhook.send;

import io.carillon.webhook.hosts.ProjectShares;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Decides which project may start a name lookup. Lookups that are not answered within a second are slow. Slow lookups,
 * and new ones of projects that have slow lookups, use places of their own, so that projects whose names are answered
 * always find a place, however many names of other projects are not. Not thread-safe: {@link NameLookups} holds its
 * lock.
 */
final class LookupPlaces {
    /** The places of quick lookups, and as many for slow ones. */
    static final int PLACES = 64;
    /**
     * The number of lookups of all kinds. It is larger than the number of places, because lookups become slow after
     * they started, and because every project without slow lookups gets one place.
     */
    static final int MAX_LOOKUPS = 3 * PLACES;

    static final Duration SLOW_AFTER = Duration.ofSeconds(1);
    static final Duration SLOW_FOR = Duration.ofMinutes(5);
    /** A project with more slow lookups may not use the places of quick lookups, even for names that were quick. */
    private static final int MAX_TOLERATED_SLOW = PLACES / 8;
    /**
     * How many places of quick lookups a project may hold while all places of slow ones are taken: so several projects
     * that become slow one after the other do not take all.
     */
    static final int MAX_WHILE_SLOW_IS_FULL = PLACES / 8;

    private static final int MAX_QUICK_NAMES = 4_096;

    /** A name that a project wants to resolve. */
    record Name(String project, String host) {}

    private final LongSupplier nanoTime;
    private final ProjectShares quick = new ProjectShares(PLACES);
    private final ProjectShares slow = new ProjectShares(PLACES);
    /** When projects had their last slow lookup. */
    private final Map<String, Long> slowAtByProject = new HashMap<>();
    /** The names that were answered quickly the last time, the oldest first. */
    private final Set<Name> quickNames = new LinkedHashSet<>();

    private int held;

    LookupPlaces(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** A place that a lookup holds until {@link #release}. */
    final class Place {
        final Name name;
        private final long since = nanoTime.getAsLong();
        private boolean isSlow;

        private Place(Name name, boolean isSlow) {
            this.name = name;
            this.isSlow = isSlow;
        }

        /** Frees a place of the quick lookups if this lookup has not been answered for too long. */
        void checkAge() {
            if (nanoTime.getAsLong() - since > SLOW_AFTER.toNanos()) setSlow();
        }

        /** Counts this lookup as slow, because a caller did not wait any longer. */
        void setSlow() {
            slowAtByProject.put(name.project(), nanoTime.getAsLong());
            quickNames.remove(name);
            if (isSlow) return;
            isSlow = true;
            quick.release(name.project());
            slow.acquire(name.project());
        }

        /** Returns the place after its lookup was answered or failed. */
        void release() {
            checkAge();
            if (!isSlow) addQuickName(name);
            (isSlow ? slow : quick).release(name.project());
            held--;
        }
    }

    /** Takes a place for the lookup of a name; empty if the share of its project is used up. */
    Optional<Place> tryAcquire(Name name) {
        if (held >= MAX_LOOKUPS) return Optional.empty();
        String project = name.project();
        boolean hasSlowLookups = hasSlowLookups(project);
        boolean isQuick = !hasSlowLookups || (quickNames.contains(name) && slow.heldBy(project) <= MAX_TOLERATED_SLOW);
        if (isQuick && slow.isFull() && quick.heldBy(project) >= MAX_WHILE_SLOW_IS_FULL) return Optional.empty();
        ProjectShares shares = isQuick ? quick : slow;
        if (!shares.tryAcquire(project)) {
            if (!isQuick || quick.heldBy(project) > 0) return Optional.empty();
            quick.acquire(project);
        }
        held++;
        return Optional.of(new Place(name, !isQuick));
    }

    private void addQuickName(Name name) {
        quickNames.remove(name);
        quickNames.add(name);
        if (quickNames.size() > MAX_QUICK_NAMES)
            quickNames.remove(quickNames.iterator().next());
    }

    private boolean hasSlowLookups(String project) {
        long now = nanoTime.getAsLong();
        if (slow.heldBy(project) > 0) return true;
        slowAtByProject.computeIfPresent(project, (name, at) -> now - at > SLOW_FOR.toNanos() ? null : at);
        return slowAtByProject.containsKey(project);
    }
}
