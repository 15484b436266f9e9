package io.carillon.it.store;

import io.carillon.run.Enqueue;
import io.carillon.run.Gate;
import io.carillon.run.Lane;
import io.carillon.run.NewRun;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A run to be stored, in the terms of the tests. */
record RunSpec(
        Lane lane,
        Priority priority,
        String handler,
        Enqueue.Due due,
        @Nullable String key,
        @Nullable Gate gate) {
    static final Lane MAIL = new Lane("mail", "default");
    static final String HANDLER = "mail.send";

    /** A run of normal priority in the lane {@code mail}, due now. */
    static RunSpec mail() {
        return new RunSpec(MAIL, Priority.NORMAL, HANDLER, Enqueue.now().due(), null, null);
    }

    RunSpec inLane(Lane lane) {
        return new RunSpec(lane, priority, handler, due, key, gate);
    }

    RunSpec withPriority(Priority priority) {
        return new RunSpec(lane, priority, handler, due, key, gate);
    }

    RunSpec withHandler(String handler) {
        return new RunSpec(lane, priority, handler, due, key, gate);
    }

    RunSpec after(Duration delay) {
        return new RunSpec(lane, priority, handler, Enqueue.after(delay).due(), key, gate);
    }

    RunSpec at(Instant instant) {
        return new RunSpec(lane, priority, handler, Enqueue.at(instant).due(), key, gate);
    }

    RunSpec key(String key) {
        return new RunSpec(lane, priority, handler, due, key, gate);
    }

    RunSpec concurrencyKey(String key, int atMost) {
        return withGate(Enqueue.now().concurrencyKey(key, atMost));
    }

    RunSpec fifoKey(String key) {
        return withGate(Enqueue.now().fifoKey(key));
    }

    RunSpec rateKey(String key, int starts, Duration in) {
        return withGate(Enqueue.now().rateKey(key, starts, in));
    }

    private RunSpec withGate(Enqueue options) {
        return new RunSpec(lane, priority, handler, due, key, options.gate());
    }

    NewRun run() {
        return run(RunId.generate());
    }

    NewRun run(RunId id) {
        return new NewRun(
                id, lane, priority, Origin.DIRECT, Target.handler(handler), payload(id), due, key, null, gate);
    }

    List<NewRun> copies(int count) {
        return Stream.generate(this::run).limit(count).toList();
    }

    /** Each payload contains the id of its run, so that a test detects swapped payloads. */
    static Payload payload(RunId id) {
        return new Payload(("{\"run\":\"" + id + "\"}").getBytes(StandardCharsets.UTF_8), "json");
    }
}
