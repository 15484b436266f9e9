package io.carillon.store;

import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** What planning reads and writes. No lock is held between the two: a plan whose schedule changed meanwhile is simply not written. */
public interface PlanStore {
    /** Takes or keeps the right to plan for so long, where only one node plans; false: another node has it. A holder that lost it does no harm. */
    boolean lead(UUID node, Duration lease);

    /** Gives up the right to plan, if this node has it. */
    void stepDown(UUID node);

    /** Whether there is anything at all to plan, follow or turn: one question where mostly nothing is. */
    boolean anything(Reach reach);

    /** Ends pauses whose time has come, and pauses schedules with ticks to come whose last runs all failed, as often as they allow; returns those it changed. */
    List<Schedule> turnPauses(Reach reach);

    /** As many schedules {@link #followZones} looks at in one call. */
    int ZONES = 1_000;

    /** Plans anew the future of schedules that older time zone rules planned, the next {@link #ZONES} of them; returns how many. */
    int followZones();

    /** Lets intervals that follow the backlog of their lane do so, once after each of their instants; returns how many were looked at. */
    int followBacklogs();

    /** Schedules that this process cannot read or change, by project and name, with the error: other nodes may. */
    Map<String, String> unreadable();

    /** Schedules that need ticks, earliest first, and schedules with ticks that nobody started in time. */
    DueSchedules due(Reach reach, int limit);

    /** Writes the plans whose schedules still stand where they were read; returns those. */
    List<TickPlan> write(List<TickPlan> plans);

    /**
     * Which instants a round looks at. It begins at {@code since}, before which an earlier round left nothing; a schedule with an instant earlier than
     * {@code renew} from now needs ticks, and one with none later than {@code ahead} has a run soon.
     */
    record Reach(Instant since, Duration renew, Duration ahead) {
        /** From the very beginning. */
        public static Reach all(Duration renew, Duration ahead) {
            return new Reach(Instant.MIN, renew, ahead);
        }
    }

    /** What planning has to look at; the late ticks are by schedule. {@code behind}: how many schedules have an instant that is over and not planned, counted up to 10,000. */
    record DueSchedules(
            Instant now, List<Schedule> schedules, Map<Schedule, List<TickPlan.LateTick>> late, long behind) {
        /** Nothing to look at, so nobody asked what time it is. */
        public static final DueSchedules NONE = new DueSchedules(Instant.EPOCH, List.of(), Map.of(), 0);

        public DueSchedules {
            schedules = List.copyOf(schedules);
            late = Map.copyOf(late);
        }
    }
}
