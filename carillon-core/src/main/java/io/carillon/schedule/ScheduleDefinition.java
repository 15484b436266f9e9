package io.carillon.schedule;

import io.carillon.internal.value.Names;
import io.carillon.run.Run;
import java.util.Arrays;
import java.util.Locale;

/**
 * The definition of a schedule: its name, timing, work and policies. Equal definitions describe the same schedule.
 *
 * @param owner who gave the schedule this definition
 */
public record ScheduleDefinition(
        String project, String name, When when, RunTemplate template, SchedulePolicies policies, Owner owner) {
    public ScheduleDefinition {
        Names.check("project", project);
        Names.check("schedule", name);
    }

    /** Creates a definition of a caller of the API. */
    public ScheduleDefinition(String project, String name, When when, RunTemplate template, SchedulePolicies policies) {
        this(project, name, when, template, policies, Owner.API);
    }

    /** The origin of the definition. */
    public enum Owner {
        /** A call of the library, a request or a command. */
        API,
        /** The code of an application, which declares it each time it starts. */
        CODE;

        /** Returns the owner in lower case, as it is stored and shown. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Returns this definition with another owner. */
    public ScheduleDefinition owner(Owner newOwner) {
        return new ScheduleDefinition(project, name, when, template, policies, newOwner);
    }

    /** Returns this definition with the current interval of another, if both are adaptive with the same bounds. */
    public ScheduleDefinition withCurrentIntervalOf(ScheduleDefinition other) {
        return new ScheduleDefinition(project, name, when.withCurrentIntervalOf(other.when), template, policies, owner);
    }

    /**
     * The work of each run: queue, priority, target, encoded payload, and the retry and timeout settings. Ticks store a
     * copy, so that execution needs no join.
     */
    @SuppressWarnings("ArrayRecordComponent") // equals compares the content
    public record RunTemplate(
            String queue,
            int priority,
            String targetKind,
            String targetName,
            byte[] payload,
            String codec,
            Run.Policy policy) {
        public RunTemplate {
            Names.check("queue", queue);
        }

        /** Creates work without retry and timeout settings of its own. */
        public RunTemplate(
                String queue, int priority, String targetKind, String targetName, byte[] payload, String codec) {
            this(queue, priority, targetKind, targetName, payload, codec, Run.Policy.none());
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof RunTemplate that
                    && queue.equals(that.queue)
                    && priority == that.priority
                    && targetKind.equals(that.targetKind)
                    && targetName.equals(that.targetName)
                    && codec.equals(that.codec)
                    && policy.equals(that.policy)
                    && Arrays.equals(payload, that.payload);
        }

        @Override
        public int hashCode() {
            return targetName.hashCode() * 31 + Arrays.hashCode(payload);
        }

        @Override
        public String toString() {
            return "RunTemplate[" + targetKind + " " + targetName + " in " + queue + "]";
        }
    }
}
