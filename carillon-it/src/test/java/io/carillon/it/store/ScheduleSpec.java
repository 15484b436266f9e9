package io.carillon.it.store;

import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A schedule to be stored, in the terms of the tests. */
record ScheduleSpec(String name, When when, SchedulePolicies policies, String payload) {
    /** A schedule with a fixed interval, aligned to the epoch; missed instants run once. */
    static ScheduleSpec every(Duration period) {
        return new ScheduleSpec("report", When.every(period), SchedulePolicies.defaults(), "first");
    }

    static ScheduleSpec of(When when) {
        return new ScheduleSpec("report", when, SchedulePolicies.defaults(), "first");
    }

    ScheduleSpec named(String name) {
        return new ScheduleSpec(name, when, policies, payload);
    }

    ScheduleSpec when(When when) {
        return new ScheduleSpec(name, when, policies, payload);
    }

    ScheduleSpec missed(MissedPolicy missedPolicy) {
        return new ScheduleSpec(name, when, policies.missed(missedPolicy), payload);
    }

    ScheduleSpec policies(SchedulePolicies schedulePolicies) {
        return new ScheduleSpec(name, when, schedulePolicies, payload);
    }

    ScheduleSpec payload(String payload) {
        return new ScheduleSpec(name, when, policies, payload);
    }

    ScheduleDefinition definition() {
        return new ScheduleDefinition(
                RunSpec.MAIL.project(),
                name,
                when,
                new ScheduleDefinition.RunTemplate(
                        RunSpec.MAIL.queue(),
                        1,
                        "handler",
                        RunSpec.HANDLER,
                        payload.getBytes(StandardCharsets.UTF_8),
                        "json"),
                policies);
    }
}
