package io.carillon.schedule;

import io.carillon.internal.value.Names;
import java.util.Arrays;

/** The definition of a schedule: its name, timing, work and policies. Equal definitions describe the same schedule. */
public record ScheduleDefinition(
        String project, String name, When when, RunTemplate template, SchedulePolicies policies) {
    public ScheduleDefinition {
        Names.check("project", project);
        Names.check("schedule", name);
    }

    /** Returns this definition with the current interval of another, if both are adaptive with the same bounds. */
    public ScheduleDefinition withCurrentIntervalOf(ScheduleDefinition other) {
        return new ScheduleDefinition(project, name, when.withCurrentIntervalOf(other.when), template, policies);
    }

    /**
     * The work of each run: queue, priority, target and encoded payload. Ticks store a copy, so that execution
     * needs no join.
     */
    @SuppressWarnings("ArrayRecordComponent") // equals compares the content
    public record RunTemplate(
            String queue, int priority, String targetKind, String targetName, byte[] payload, String codec) {
        public RunTemplate {
            Names.check("queue", queue);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof RunTemplate that
                    && queue.equals(that.queue)
                    && priority == that.priority
                    && targetKind.equals(that.targetKind)
                    && targetName.equals(that.targetName)
                    && codec.equals(that.codec)
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
