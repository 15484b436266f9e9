package io.carillon;

import io.carillon.run.Priority;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.Policies;
import io.carillon.value.Names;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a schedule does about missed instants and overlaps, and where its runs go. Immutable; each method returns a changed copy. */
public record ScheduleOptions(
        Policies policies, @Nullable String queue, @Nullable Priority priority) {
    public ScheduleOptions {
        if (queue != null) Names.check("queue", queue);
    }

    static ScheduleOptions defaults() {
        return new ScheduleOptions(Policies.defaults(), null, null);
    }

    /** What becomes of instants that nobody could start in time. */
    public ScheduleOptions missed(Missed missed) {
        return new ScheduleOptions(policies.missed(missed), queue, priority);
    }

    /** What happens while an earlier run has not ended. */
    public ScheduleOptions overlap(Overlap overlap) {
        return new ScheduleOptions(policies.overlap(overlap), queue, priority);
    }

    /** How late an instant may start as if on time; 5 minutes unless set. */
    public ScheduleOptions grace(Duration grace) {
        return new ScheduleOptions(policies.grace(grace), queue, priority);
    }

    /** How far back missed instants are caught up; 24 hours unless set. */
    public ScheduleOptions catchUp(Duration catchUp) {
        return new ScheduleOptions(policies.catchUp(catchUp), queue, priority);
    }

    /** With {@link Missed#RUN_ALL}: no more late runs at a time; 100 unless set. */
    public ScheduleOptions missedCap(int cap) {
        return runAll(new Policies.RunAll(cap, policies.runAll().spread()));
    }

    /** With {@link Missed#RUN_ALL}: how far apart the late runs fall due; all at once unless set. */
    public ScheduleOptions missedSpread(Duration spread) {
        return runAll(new Policies.RunAll(policies.runAll().cap(), spread));
    }

    /** Pauses itself when so many runs in a row ended dead or quarantined; never unless set. */
    public ScheduleOptions pauseAfter(int failures) {
        return new ScheduleOptions(policies.pauseAfter(failures), queue, priority);
    }

    private ScheduleOptions runAll(Policies.RunAll runAll) {
        return new ScheduleOptions(policies.runAll(runAll), queue, priority);
    }

    /** Another queue than the handler's; without one, a schedule that is stored in the queue {@code default} stays there. */
    public ScheduleOptions queue(String queue) {
        return new ScheduleOptions(policies, queue, priority);
    }

    /** Another class than the handler's. */
    public ScheduleOptions priority(Priority priority) {
        return new ScheduleOptions(policies, queue, priority);
    }
}
