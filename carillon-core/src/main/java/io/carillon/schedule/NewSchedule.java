package io.carillon.schedule;

import io.carillon.run.HandlerType;
import io.carillon.run.Payload;
import io.carillon.run.Target;
import java.util.Objects;

/** A schedule to create or change together with others. Immutable. */
public final class NewSchedule {
    private final String name;
    private final When when;
    private final Work work;
    private final ScheduleOptions options;

    /** What the runs of a schedule do. */
    public sealed interface Work {
        /** A handler, and the payload of each run. */
        record Handled<T>(HandlerType<T> type, T payload) implements Work {}

        /** A target that is known only by name, and the encoded payload of each run. */
        record Encoded(Target target, Payload payload) implements Work {}
    }

    private NewSchedule(String name, When when, Work work, ScheduleOptions options) {
        this.name = Objects.requireNonNull(name, "name");
        this.when = Objects.requireNonNull(when, "when");
        this.work = work;
        this.options = Objects.requireNonNull(options, "options");
    }

    /** Returns a schedule that starts runs of a handler, with the default options. */
    public static <T> NewSchedule of(String name, When when, HandlerType<T> type, T payload) {
        return new NewSchedule(name, when, new Work.Handled<>(type, payload), ScheduleOptions.defaults());
    }

    /** Returns a schedule with an encoded payload, for callers that know the target only by name. */
    public static NewSchedule of(String name, When when, Target target, Payload encoded) {
        return new NewSchedule(name, when, new Work.Encoded(target, encoded), ScheduleOptions.defaults());
    }

    /** Returns a copy with these options: policies, queue, priority. */
    public NewSchedule options(ScheduleOptions options) {
        return new NewSchedule(name, when, work, options);
    }

    /** Returns the name, which is unique in its project. */
    public String name() {
        return name;
    }

    /** Returns when runs start. */
    public When when() {
        return when;
    }

    /** Returns what the runs do. */
    public Work work() {
        return work;
    }

    /** Returns the options. */
    public ScheduleOptions options() {
        return options;
    }
}
