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

/** A run to be stored, as tests describe it. */
record Order(
        Lane lane,
        Priority priority,
        String handler,
        Enqueue.Due due,
        @Nullable String key,
        @Nullable Gate gate) {
    static final Lane MAIL = new Lane("mail", "default");
    static final String HANDLER = "mail.send";

    /** A run of normal priority in the lane of the mails, due now. */
    static Order mail() {
        return new Order(MAIL, Priority.NORMAL, HANDLER, Enqueue.now().due(), null, null);
    }

    Order in(Lane lane) {
        return new Order(lane, priority, handler, due, key, gate);
    }

    Order of(Priority priority) {
        return new Order(lane, priority, handler, due, key, gate);
    }

    Order to(String handler) {
        return new Order(lane, priority, handler, due, key, gate);
    }

    Order after(Duration delay) {
        return new Order(lane, priority, handler, Enqueue.after(delay).due(), key, gate);
    }

    Order at(Instant instant) {
        return new Order(lane, priority, handler, Enqueue.at(instant).due(), key, gate);
    }

    Order key(String key) {
        return new Order(lane, priority, handler, due, key, gate);
    }

    Order concurrencyKey(String key, int atMost) {
        return behind(Enqueue.now().concurrencyKey(key, atMost));
    }

    Order fifoKey(String key) {
        return behind(Enqueue.now().fifoKey(key));
    }

    Order rateKey(String key, int starts, Duration in) {
        return behind(Enqueue.now().rateKey(key, starts, in));
    }

    private Order behind(Enqueue options) {
        return new Order(lane, priority, handler, due, key, options.gate());
    }

    NewRun run() {
        return run(RunId.next());
    }

    NewRun run(RunId id) {
        return new NewRun(
                id, lane, priority, Origin.DIRECT, Target.handler(handler), payload(id), due, key, null, gate);
    }

    List<NewRun> times(int count) {
        return Stream.generate(this::run).limit(count).toList();
    }

    /** Each run carries its own name, so that a mix-up would show. */
    static Payload payload(RunId id) {
        return new Payload(("{\"run\":\"" + id + "\"}").getBytes(StandardCharsets.UTF_8), "json");
    }
}
