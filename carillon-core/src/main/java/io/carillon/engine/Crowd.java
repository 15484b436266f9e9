package io.carillon.engine;

import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * How many nodes there are, and which of them go when there is something to do. A handful all go at once; of a hundred that all went for one run ninety-nine
 * would ask the database in vain. And where many look, each may look more rarely.
 */
final class Crowd {
    /** So many may all go and all look: nobody notices. */
    private static final int HANDFUL = 4;

    /** How many of a crowd go for one hint: one takes the work, the others make up for one that is full or just died. */
    private static final int GO = 3;

    private record Place(int rank, int size) {}

    private volatile Place place = new Place(0, 1);
    private volatile Runnable onShrunk = () -> {};
    private int relied = 1;

    /** What to do when so many are gone that those who are left must not go on as rarely as before. */
    void onShrunk(Runnable action) {
        onShrunk = action;
    }

    /** A beat showed who lives; only the heart calls this. */
    void seen(UUID me, Set<UUID> peers) {
        TreeSet<UUID> all = new TreeSet<>(peers);
        all.add(me);
        place = new Place(all.headSet(me).size(), all.size());
        if (all.size() > relied) relied = all.size();
        if (all.size() * 2 <= relied) {
            relied = all.size();
            onShrunk.run();
        }
    }

    boolean large() {
        return place.size > HANDFUL;
    }

    /** Whether this node is among those who go; all nodes that know the same peers agree. */
    boolean chosen(int lot) {
        Place now = place;
        return now.size <= HANDFUL || Math.floorMod(now.rank - lot, now.size) < GO;
    }

    /** A pause that grows with the crowd, so that all together ask about as often as a handful does. */
    Duration stretched(Duration pause, Duration most) {
        int size = place.size;
        if (size <= HANDFUL || pause.compareTo(most) >= 0) return pause;
        Duration longer = pause.multipliedBy(size).dividedBy(HANDFUL);
        return longer.compareTo(most) < 0 ? longer : most;
    }
}
