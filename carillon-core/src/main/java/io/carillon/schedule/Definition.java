package io.carillon.schedule;

import io.carillon.value.Names;
import java.util.Arrays;

/** What a user promises by a schedule: its name, when, what and the policies. Two equal definitions are the same promise. */
public record Definition(String project, String name, When when, What what, Policies policies) {
    public Definition {
        Names.check("project", project);
        Names.check("schedule", name);
    }

    /** The same promise, at the pace the other one has found, if both follow the backlog between the same bounds. */
    public Definition atPaceOf(Definition other) {
        return new Definition(project, name, when.atPaceOf(other.when), what, policies);
    }

    /** The work of each tick: lane, priority class, target and encoded payload. Ticks carry it, so that execution needs no join. */
    @SuppressWarnings("ArrayRecordComponent") // compared by content below
    public record What(String queue, int priority, String target, String targetName, byte[] payload, String codec) {
        public What {
            Names.check("queue", queue);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof What that
                    && queue.equals(that.queue)
                    && priority == that.priority
                    && target.equals(that.target)
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
            return "What[" + target + " " + targetName + " in " + queue + "]";
        }
    }
}
