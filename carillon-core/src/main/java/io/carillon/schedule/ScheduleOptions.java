package io.carillon.schedule;

import io.carillon.internal.value.Names;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options of a schedule: its policies, and the queue, priority, retries and timeout of its runs. Immutable; each method
 * returns a changed copy.
 */
public final class ScheduleOptions {
    private final SchedulePolicies policies;
    private final @Nullable String queue;
    private final @Nullable Priority priority;
    private final Run.Policy policy;

    private ScheduleOptions(
            SchedulePolicies policies, @Nullable String queue, @Nullable Priority priority, Run.Policy policy) {
        if (queue != null) Names.check("queue", queue);
        this.policies = policies;
        this.queue = queue;
        this.priority = priority;
        this.policy = policy;
    }

    /** Returns the default options. Each method that sets an option names its default. */
    public static ScheduleOptions defaults() {
        return new ScheduleOptions(SchedulePolicies.defaults(), null, null, Run.Policy.none());
    }

    /** Sets what happens to planned instants that could not start in time. Default: {@link MissedPolicy#RUN_ONCE}. */
    public ScheduleOptions missed(MissedPolicy missedPolicy) {
        return new ScheduleOptions(policies.missed(missedPolicy), queue, priority, policy);
    }

    /**
     * Sets what happens when a planned instant is reached while an earlier run has not ended. Default:
     * {@link OverlapPolicy#ALLOW}.
     */
    public ScheduleOptions overlap(OverlapPolicy overlapPolicy) {
        return new ScheduleOptions(policies.overlap(overlapPolicy), queue, priority, policy);
    }

    /** Sets how late a run may start before its planned instant counts as missed. Default: 5 minutes. */
    public ScheduleOptions grace(Duration grace) {
        return new ScheduleOptions(policies.grace(grace), queue, priority, policy);
    }

    /** Sets how far back missed instants are caught up. Default: 24 hours. */
    public ScheduleOptions catchUp(Duration catchUp) {
        return new ScheduleOptions(policies.catchUp(catchUp), queue, priority, policy);
    }

    /** Sets the maximum number of late runs that {@link MissedPolicy#RUN_ALL} creates at a time. Default: 100. */
    public ScheduleOptions missedCap(int cap) {
        return runAll(new SchedulePolicies.RunAllLimits(cap, policies.runAll().spread()));
    }

    /**
     * Sets the time between the due times of the late runs of {@link MissedPolicy#RUN_ALL}. Default: zero, so that all
     * of them are due immediately.
     */
    public ScheduleOptions missedSpread(Duration spread) {
        return runAll(new SchedulePolicies.RunAllLimits(policies.runAll().cap(), spread));
    }

    /** Pauses the schedule automatically after this many consecutive runs ended dead or quarantined. Default: never. */
    public ScheduleOptions pauseAfter(int failures) {
        return new ScheduleOptions(policies.pauseAfter(failures), queue, priority, policy);
    }

    private ScheduleOptions runAll(SchedulePolicies.RunAllLimits runAllLimits) {
        return new ScheduleOptions(policies.runAll(runAllLimits), queue, priority, policy);
    }

    /**
     * Sets the queue of the runs. Default: the queue of the handler; a schedule already stored in the queue {@code
     * default} stays there.
     */
    public ScheduleOptions queue(String queue) {
        return new ScheduleOptions(policies, queue, priority, policy);
    }

    /** Sets the priority of the runs. Default: the priority of the handler. */
    public ScheduleOptions priority(Priority priority) {
        return new ScheduleOptions(policies, queue, priority, policy);
    }

    /**
     * Sets how often and after which delays failed runs are retried. Default: {@link io.carillon.HandlerOptions#retry}
     * of the handler, or the setting of the webhook endpoint.
     */
    public ScheduleOptions retry(Retry retry) {
        return new ScheduleOptions(policies, queue, priority, policy.withRetry(retry));
    }

    /**
     * Sets how long one attempt of a run may take, from 1 ms to 30 days. Default:
     * {@link io.carillon.HandlerOptions#timeout} of the handler.
     */
    public ScheduleOptions timeout(Duration timeout) {
        return new ScheduleOptions(policies, queue, priority, policy.withTimeout(timeout));
    }

    /** Returns the policies of the schedule for missed instants, overlapping runs and failures. */
    public SchedulePolicies policies() {
        return policies;
    }

    /** Returns the queue of the runs; null for the queue of the handler. */
    public @Nullable String queue() {
        return queue;
    }

    /** Returns the priority of the runs; null for the priority of the handler. */
    public @Nullable Priority priority() {
        return priority;
    }

    /** Returns how often and after which delays failed runs are retried; null for the setting of the handler. */
    public @Nullable Retry retry() {
        return policy.retry();
    }

    /** Returns how long one attempt may take; null for the setting of the handler. */
    public @Nullable Duration timeout() {
        return policy.timeout();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ScheduleOptions that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "ScheduleOptions[policies=%s, queue=%s, priority=%s, retry=%s, timeout=%s]"
                .formatted(values().toArray());
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(policies, queue, priority, policy.retry(), policy.timeout());
    }
}
