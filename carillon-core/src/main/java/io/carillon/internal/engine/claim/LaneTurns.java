package io.carillon.internal.engine.claim;

import io.carillon.internal.run.Lane;
import io.carillon.run.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The lanes that a node knows, in the order of their turns: projects take turns, and so do the lanes of a project. For
 * each project it keeps when the first of its lanes is ready, so that neither {@link #nextReady} nor a claim reads all
 * lanes. Not thread-safe.
 */
final class LaneTurns {
    /** The known state of one priority of a lane. */
    static final class DueEntry {
        private final LaneState lane;
        private Instant readyAt = Instant.MAX;
        /** The future instants that the last poll read, including the first. */
        final Deque<Instant> upcoming = new ArrayDeque<>();

        /**
         * The instant from which claims read. Before it there are only ended runs, which vacuum may be unable to
         * remove. Hints and polls lower it.
         */
        Instant claimFrom = Instant.MAX;

        Instant backoffUntil = Instant.MIN;
        Duration backoff = Duration.ZERO;
        /** Until when the limit of the lane lets no run start. */
        Instant limitedUntil = Instant.MIN;
        /**
         * The lowest instant of hints and polls during a claim. The answer to that claim may not include those runs.
         */
        Instant earliestDuringClaim = Instant.MAX;
        /** Whether the last claim got all runs it asked for, so that there are more than this node can take. */
        private boolean backlogged;
        /** The credit of this priority from batches too small to be divided 8:4:2:1. */
        int credit;

        private DueEntry(LaneState lane) {
            this.lane = lane;
        }

        /** Returns when this priority next has a run to claim. */
        Instant readyAt() {
            return readyAt;
        }

        void readyAt(Instant at) {
            readyAt = at;
            lane.updateNextReady();
        }

        boolean backlogged() {
            return backlogged;
        }

        void backlogged(boolean value) {
            if (backlogged != value) lane.projectState.turns().backloggedCount += value ? 1 : -1;
            backlogged = value;
        }

        void lowerClaimFrom(Instant instant) {
            if (instant.isBefore(claimFrom)) claimFrom = instant;
            if (instant.isBefore(earliestDuringClaim)) earliestDuringClaim = instant;
        }

        /**
         * Advances to the next known instant after {@code now}, because a claim takes the runs that are ready by then.
         */
        void advancePast(Instant now) {
            while (!upcoming.isEmpty() && !upcoming.getFirst().isAfter(now)) upcoming.removeFirst();
            readyAt(upcoming.isEmpty() ? Instant.MAX : upcoming.getFirst());
            earliestDuringClaim = Instant.MAX;
        }

        void limitUntil(Instant until) {
            limitedUntil = until;
            readyAt(until);
        }

        void clearBackoff() {
            backoffUntil = Instant.MIN;
            backoff = Duration.ZERO;
        }
    }

    private static final class LaneState {
        private final ProjectState projectState;
        private final Map<Priority, DueEntry> entries = new EnumMap<>(Priority.class);
        private Instant nextReady = Instant.MAX;

        LaneState(ProjectState projectState) {
            this.projectState = projectState;
        }

        /** Updates the ready time after one of the priorities changed. */
        void updateNextReady() {
            Instant before = nextReady;
            nextReady = Instant.MAX;
            for (DueEntry dueEntry : entries.values())
                if (dueEntry.readyAt.isBefore(nextReady)) nextReady = dueEntry.readyAt;
            if (nextReady.isBefore(projectState.nextReady)) projectState.nextReady = nextReady;
            else if (before.isBefore(nextReady) && before.equals(projectState.nextReady))
                projectState.nextReadyStale = true;
        }
    }

    private final class ProjectState {
        private final Map<Lane, LaneState> lanes = new LinkedHashMap<>();
        /** When the first of its lanes is ready. A lower bound while {@link #nextReadyStale}. */
        private Instant nextReady = Instant.MAX;

        private boolean nextReadyStale;

        LaneTurns turns() {
            return LaneTurns.this;
        }

        Instant nextReady() {
            if (nextReadyStale) {
                nextReady = Instant.MAX;
                for (LaneState lane : lanes.values())
                    if (lane.nextReady.isBefore(nextReady)) nextReady = lane.nextReady;
                nextReadyStale = false;
            }
            return nextReady;
        }
    }

    private final Map<String, ProjectState> projects = new LinkedHashMap<>();
    private int backloggedCount;

    DueEntry entry(Lane lane, Priority priority) {
        ProjectState projectState = projects.computeIfAbsent(lane.project(), name -> new ProjectState());
        LaneState one = projectState.lanes.computeIfAbsent(lane, l -> new LaneState(projectState));
        return one.entries.computeIfAbsent(priority, p -> new DueEntry(one));
    }

    /** Returns the known state of a lane, by priority. */
    Map<Priority, DueEntry> entriesOf(Lane lane) {
        ProjectState projectState = projects.get(lane.project());
        LaneState one = projectState == null ? null : projectState.lanes.get(lane);
        return one == null ? Map.of() : one.entries;
    }

    /** Returns whether a lane has more runs than this node can take. */
    boolean hasBacklog() {
        return backloggedCount > 0;
    }

    /** Returns when the next known run is ready, or {@link Instant#MAX} if none is known. */
    Instant nextReady() {
        Instant earliest = Instant.MAX;
        for (ProjectState projectState : projects.values())
            if (projectState.nextReady().isBefore(earliest)) earliest = projectState.nextReady;
        return earliest;
    }

    /**
     * Receives the lanes that are due. A method returns false to get no more lanes of this project, or of any project.
     */
    interface Visitor {
        boolean visitLane(Lane lane, Map<Priority, DueEntry> entries);

        boolean endProject(String project);
    }

    /** Passes the lanes that are due to the visitor, in the order of their turns. */
    void visitDue(Instant now, Visitor visitor) {
        for (Map.Entry<String, ProjectState> project : projects.entrySet()) {
            if (project.getValue().nextReady().isAfter(now)) continue;
            for (Map.Entry<Lane, LaneState> lane : project.getValue().lanes.entrySet())
                if (!lane.getValue().nextReady.isAfter(now)
                        && !visitor.visitLane(lane.getKey(), lane.getValue().entries)) break;
            if (!visitor.endProject(project.getKey())) return;
        }
    }

    /** Moves a project behind the others after it was served. */
    void moveBehindOthers(String project) {
        moveToEnd(projects, project);
    }

    /** Moves a lane behind the others of its project after it was served. */
    void moveBehindOthers(Lane lane) {
        ProjectState projectState = projects.get(lane.project());
        if (projectState != null) moveToEnd(projectState.lanes, lane);
    }

    private static <K, V> void moveToEnd(Map<K, V> turns, K served) {
        V value = turns.remove(served);
        if (value != null) turns.put(served, value);
    }

    void clear() {
        projects.clear();
        backloggedCount = 0;
    }

    /** Removes lanes without known runs, except lanes whose backoff lasts beyond the given instant. */
    void removeIdle(Instant since) {
        projects.values().removeIf(projectState -> {
            projectState.lanes.values().removeIf(lane -> {
                boolean idle = lane.nextReady.equals(Instant.MAX)
                        && lane.entries.values().stream().noneMatch(one -> one.backoffUntil.isAfter(since));
                if (idle) lane.entries.values().forEach(one -> one.backlogged(false));
                return idle;
            });
            return projectState.lanes.isEmpty();
        });
    }
}
