package io.carillon.server.api;

import io.carillon.run.Enqueue;
import io.carillon.run.Priority;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Reads when and how a run is stored, out of the same fields for one and for many. */
final class EnqueueForm {
    private EnqueueForm() {}

    static Enqueue options(Fields body) {
        Enqueue options = due(body);
        Optional<Priority> priority = body.word("priority", Priority.class);
        if (priority.isPresent()) options = options.priority(priority.get());
        options = with(body, "key", options, Enqueue::key);
        options = window(body, options);
        options = with(body, "queue", options, Enqueue::queue);
        options = with(body, "fifoKey", options, Enqueue::fifoKey);
        int most = body.integer("concurrency").orElse(1);
        options = with(body, "concurrencyKey", options, (before, key) -> before.concurrencyKey(key, most));
        return rate(body, options);
    }

    private static Enqueue due(Fields body) {
        Optional<Instant> at = body.instant("at");
        Optional<Duration> after = body.duration("after");
        if (at.isPresent() && after.isPresent()) throw Problem.invalid("/at", "Give 'at' or 'after', not both.");
        if (at.isPresent()) return body.making("at", () -> Enqueue.at(at.get()));
        if (after.isPresent()) return body.making("after", () -> Enqueue.after(after.get()));
        return Enqueue.now();
    }

    private static Enqueue window(Fields body, Enqueue before) {
        Optional<Duration> window = body.duration("keyWindow");
        if (window.isEmpty()) return before;
        String key = body.required("key", body.text("key"));
        return body.making("keyWindow", () -> before.key(key, window.get()));
    }

    private static Enqueue rate(Fields body, Enqueue before) {
        Optional<String> key = body.text("rateKey");
        Optional<Integer> starts = body.integer("rateStarts");
        Optional<Duration> in = body.duration("rateIn");
        if (key.isEmpty() && starts.isEmpty() && in.isEmpty()) return before;
        String of = body.required("rateKey", key);
        int most = body.required("rateStarts", starts);
        Duration stretch = body.required("rateIn", in);
        return body.making("rateKey", () -> before.rateKey(of, most, stretch));
    }

    private interface Change {
        Enqueue of(Enqueue before, String text);
    }

    private static Enqueue with(Fields body, String name, Enqueue before, Change change) {
        Optional<String> value = body.text(name);
        return value.isEmpty() ? before : body.making(name, () -> change.of(before, value.get()));
    }
}
