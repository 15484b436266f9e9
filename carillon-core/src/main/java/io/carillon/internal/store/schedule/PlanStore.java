package io.carillon.internal.store.schedule;

import io.carillon.internal.schedule.TickPlan;
import io.carillon.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The reads and writes of planning. No lock is held between them: a plan is not written if its
 * schedule changed meanwhile.
 */
public interface PlanStore {
    /**
     * Acquires or renews the planning token for the given time, in leader mode. Returns false if another node holds it.
     * A leader that lost the token cannot do harm.
     */
    boolean acquireToken(UUID node, Duration lease);

    /** Releases the planning token if this node holds it. */
    void releaseToken(UUID node);

    /** Acquires or renews the claim token, which only the node that claims runs in leader mode holds. */
    boolean acquireClaimToken(UUID node, Duration lease);

    /** Releases the claim token if this node holds it. */
    void releaseClaimToken(UUID node);

    /** Returns whether there is any work for a planning round. One query, because usually there is none. */
    boolean hasWork(PlanningWindow window);

    /**
     * Ends pauses that have expired, and pauses schedules with upcoming ticks after as many consecutive failures as the
     * schedule allows. Returns the changed schedules.
     */
    List<Schedule> updatePauses(PlanningWindow window);

    /** The number of schedules that one call of {@link #replanChangedZones} reads. */
    int ZONE_BATCH = 1_000;

    /**
     * Replans the future of schedules that were planned with older time zone rules: the first {@link #ZONE_BATCH} of
     * them after a position. The caller passes the last position of one batch to read the next batch, so that
     * schedules that cannot be replanned are not read again.
     */
    ZoneBatch replanChangedZones(ZonePosition after);

    /**
     * Adapts intervals that depend on the backlog of their lane, once after each of their instants. Returns how many
     * were checked.
     */
    int adaptIntervals();

    /**
     * Returns the schedules that this process cannot read or change, by project and name, with the error. Other nodes
     * may be able to.
     */
    Map<String, String> unreadable();

    /** Returns schedules that need ticks, earliest first, and schedules with ticks that were not started in time. */
    DueSchedules due(PlanningWindow window, int limit);

    /** Writes the plans of schedules that have not changed since they were read. Returns the plans written. */
    List<TickPlan> write(List<TickPlan> plans);

    /** A position in the order in which {@link #replanChangedZones} reads: by time zone rules, then by id. */
    record ZonePosition(String tzdata, UUID id) {
        /** The position before all schedules. */
        public static final ZonePosition START = new ZonePosition("", new UUID(0, 0));
    }

    /**
     * The result of {@link #replanChangedZones}. The schedules that were read and neither replanned nor lost cannot be
     * read or changed by this process.
     *
     * @param read how many schedules were read
     * @param replanned how many of them were replanned
     * @param lost how many of them another transaction had locked, or changed after they were read
     * @param last the position of the last schedule that was read
     */
    record ZoneBatch(int read, int replanned, int lost, ZonePosition last) {
        /** Returns whether there may be more schedules after {@link #last}. */
        public boolean mayHaveMore() {
            return read == ZONE_BATCH;
        }

        /** Returns whether other transactions, probably of another node, got every schedule first. */
        public boolean allLost() {
            return replanned == 0 && lost > 0;
        }
    }

    /**
     * The instants that a planning round considers.
     *
     * @param since the start; an earlier round left nothing due before it
     * @param replanThreshold a schedule with an instant earlier than this from now needs ticks
     * @param lookAhead a schedule with an instant earlier than this from now has upcoming ticks
     */
    record PlanningWindow(Instant since, Duration replanThreshold, Duration lookAhead) {
        /** Returns the window of a full round. */
        public static PlanningWindow all(Duration replanThreshold, Duration lookAhead) {
            return new PlanningWindow(Instant.MIN, replanThreshold, lookAhead);
        }
    }

    /**
     * The schedules to plan, and their late ticks. {@code overdueCount} is the number of schedules with an instant that
     * has passed and is not planned, counted up to 10,000.
     */
    record DueSchedules(
            Instant now, List<Schedule> schedules, Map<Schedule, List<TickPlan.LateTick>> late, long overdueCount) {
        /** No schedules. The database clock was not read. */
        public static final DueSchedules NONE = new DueSchedules(Instant.EPOCH, List.of(), Map.of(), 0);

        public DueSchedules {
            schedules = List.copyOf(schedules);
            late = Map.copyOf(late);
        }
    }
}
