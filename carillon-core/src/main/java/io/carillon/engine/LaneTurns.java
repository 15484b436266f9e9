package io.carillon.engine;

import io.carillon.run.Lane;
import io.carillon.run.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The lanes that a node knows, in the order of their turns: projects take turns, and so do the lanes of each. Of each project it keeps when the first of its
 * lanes is ready, so that neither that question nor a claim reads all lanes. Not thread-safe.
 */
final class LaneTurns {
    /** What is known of one class of a lane. */
    static final class Entry {
        private final OneLane lane;
        private Instant readyAt = Instant.MAX;
        /** What the last look saw of the instants to come, the first of them included. */
        final Deque<Instant> coming = new ArrayDeque<>();

        /** Where claims begin: before it lie ended runs, which perhaps cannot be vacuumed. A hint and a look lower it. */
        Instant low = Instant.MAX;

        Instant coldUntil = Instant.MIN;
        Duration cold = Duration.ZERO;
        /** Until when the limit of its lane lets no run start. */
        Instant shutUntil = Instant.MIN;
        /** The lowest instant of hints and looks during a claim: that claim's answer may not contain those runs. */
        Instant meanwhile = Instant.MAX;
        /** The last claim got all it asked for: there is more than this node can take. */
        private boolean flowing;
        /** What the class is owed from small batches, which cannot be shared 8:4:2:1. */
        int credit;

        private Entry(OneLane lane) {
            this.lane = lane;
        }

        /** When it will next have something to claim. */
        Instant readyAt() {
            return readyAt;
        }

        void readyAt(Instant at) {
            readyAt = at;
            lane.changed();
        }

        boolean flowing() {
            return flowing;
        }

        void flowing(boolean now) {
            if (flowing != now) lane.project.turns().flowing += now ? 1 : -1;
            flowing = now;
        }

        void atLeastFrom(Instant instant) {
            if (instant.isBefore(low)) low = instant;
            if (instant.isBefore(meanwhile)) meanwhile = instant;
        }

        /** What is ready by now is being claimed: the next known instant after it. */
        void taken(Instant now) {
            while (!coming.isEmpty() && !coming.getFirst().isAfter(now)) coming.removeFirst();
            readyAt(coming.isEmpty() ? Instant.MAX : coming.getFirst());
            meanwhile = Instant.MAX;
        }

        void shut(Instant until) {
            shutUntil = until;
            readyAt(until);
        }

        void warm() {
            coldUntil = Instant.MIN;
            cold = Duration.ZERO;
        }
    }

    private static final class OneLane {
        private final Project project;
        private final Map<Priority, Entry> classes = new EnumMap<>(Priority.class);
        private Instant next = Instant.MAX;

        OneLane(Project project) {
            this.project = project;
        }

        /** One of its classes is ready at another instant. */
        void changed() {
            Instant before = next;
            next = Instant.MAX;
            for (Entry entry : classes.values()) if (entry.readyAt.isBefore(next)) next = entry.readyAt;
            if (next.isBefore(project.next)) project.next = next;
            else if (before.isBefore(next) && before.equals(project.next)) project.unsure = true;
        }
    }

    private final class Project {
        private final Map<Lane, OneLane> lanes = new LinkedHashMap<>();
        /** When the first of its lanes is ready; if unsure, the first may be ready later. */
        private Instant next = Instant.MAX;

        private boolean unsure;

        LaneTurns turns() {
            return LaneTurns.this;
        }

        Instant next() {
            if (unsure) {
                next = Instant.MAX;
                for (OneLane lane : lanes.values()) if (lane.next.isBefore(next)) next = lane.next;
                unsure = false;
            }
            return next;
        }
    }

    private final Map<String, Project> projects = new LinkedHashMap<>();
    private int flowing;

    Entry entry(Lane lane, Priority priority) {
        Project project = projects.computeIfAbsent(lane.project(), name -> new Project());
        OneLane one = project.lanes.computeIfAbsent(lane, l -> new OneLane(project));
        return one.classes.computeIfAbsent(priority, p -> new Entry(one));
    }

    /** What is known of a lane, by class. */
    Map<Priority, Entry> classes(Lane lane) {
        Project project = projects.get(lane.project());
        OneLane one = project == null ? null : project.lanes.get(lane);
        return one == null ? Map.of() : one.classes;
    }

    /** Whether some lane has more than this node can take. */
    boolean anyFlowing() {
        return flowing > 0;
    }

    /** When the next known run is ready; {@link Instant#MAX}: none is known. */
    Instant next() {
        Instant next = Instant.MAX;
        for (Project project : projects.values()) if (project.next().isBefore(next)) next = project.next;
        return next;
    }

    /** Takes lanes that are due; false: it wants no more of this project, or of any. */
    interface Visitor {
        boolean lane(Lane lane, Map<Priority, Entry> classes);

        boolean project(String project);
    }

    /** Shows the lanes that are due, in the order of their turns. */
    void due(Instant now, Visitor visitor) {
        for (Map.Entry<String, Project> project : projects.entrySet()) {
            if (project.getValue().next().isAfter(now)) continue;
            for (Map.Entry<Lane, OneLane> lane : project.getValue().lanes.entrySet())
                if (!lane.getValue().next.isAfter(now) && !visitor.lane(lane.getKey(), lane.getValue().classes)) break;
            if (!visitor.project(project.getKey())) return;
        }
    }

    /** A project that was served goes behind the others. */
    void served(String project) {
        toTheEnd(projects, project);
    }

    /** A lane that was served goes behind the others of its project. */
    void served(Lane lane) {
        Project project = projects.get(lane.project());
        if (project != null) toTheEnd(project.lanes, lane);
    }

    private static <K, V> void toTheEnd(Map<K, V> turns, K served) {
        V value = turns.remove(served);
        if (value != null) turns.put(served, value);
    }

    void clear() {
        projects.clear();
        flowing = 0;
    }

    /** Forgets lanes without anything to do that have not been found empty since. */
    void tidy(Instant since) {
        projects.values().removeIf(project -> {
            project.lanes.values().removeIf(lane -> {
                boolean idle = lane.next.equals(Instant.MAX)
                        && lane.classes.values().stream().noneMatch(one -> one.coldUntil.isAfter(since));
                if (idle) lane.classes.values().forEach(one -> one.flowing(false));
                return idle;
            });
            return project.lanes.isEmpty();
        });
    }
}
