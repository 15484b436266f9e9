package io.carillon.it.store;

import io.carillon.schedule.Definition;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Policies;
import io.carillon.schedule.When;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A schedule as tests describe it. */
record Promise(String name, When when, Policies policies, String payload) {
    /** Every so often, on the grid of the clock; missed instants run once. */
    static Promise every(Duration period) {
        return new Promise("report", When.every(period), Policies.defaults(), "first");
    }

    static Promise of(When when) {
        return new Promise("report", when, Policies.defaults(), "first");
    }

    Promise named(String name) {
        return new Promise(name, when, policies, payload);
    }

    Promise when(When when) {
        return new Promise(name, when, policies, payload);
    }

    Promise missed(Missed missed) {
        return new Promise(name, when, policies.missed(missed), payload);
    }

    Promise policies(Policies policies) {
        return new Promise(name, when, policies, payload);
    }

    Promise payload(String payload) {
        return new Promise(name, when, policies, payload);
    }

    Definition definition() {
        return new Definition(
                Order.MAIL.project(),
                name,
                when,
                new Definition.What(
                        Order.MAIL.queue(),
                        1,
                        "handler",
                        Order.HANDLER,
                        payload.getBytes(StandardCharsets.UTF_8),
                        "json"),
                policies);
    }
}
