package io.carillon.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.run.Enqueue;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.server.endpoint.RetryJson;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.Problem;
import io.carillon.workflow.Send;
import io.carillon.workflow.SendResult;
import io.carillon.workflow.Signal;
import io.carillon.workflow.WorkflowHandle;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Reads the enqueue options, which are the same for one run and for a batch, and the signal of a start. */
final class EnqueueParser {
    private EnqueueParser() {}

    /** A signal of a request. */
    record SignalRequest(Signal<Payload> signal, Payload value, Optional<Send> id) {
        /** Reads all fields of the body. */
        static SignalRequest of(JsonFields body) {
            String name = body.required("name", body.text("name"));
            Signal<Payload> signal = body.convert("name", () -> Signal.of(name, Payload.class));
            Payload value = new Payload(body.jsonValue("value").map(Json::bytes).orElse("{}".getBytes(UTF_8)), "json");
            Optional<Send> id = body.text("id").map(text -> body.convert("id", () -> Send.id(text)));
            body.refuseUnknown();
            return new SignalRequest(signal, value, id);
        }

        /** Sends the signal to a workflow that was found in this transaction. Returns the result for the response. */
        String send(WorkflowHandle workflow) {
            try {
                SendResult sent =
                        id.isPresent() ? workflow.signal(signal, value, id.get()) : workflow.signal(signal, value);
                return sent instanceof SendResult.Sent ? "sent" : "duplicate";
            } catch (CarillonException refused) {
                if (refused.code() != ErrorCode.UNKNOWN_RUN) throw refused;
                throw Problem.of(409, "run-ended", "The workflow has ended and gets no more signals.");
            }
        }
    }

    static Enqueue options(JsonFields body) {
        Enqueue options = due(body);
        Optional<Priority> priority = body.enumValue("priority", Priority.class);
        if (priority.isPresent()) options = options.priority(priority.get());
        options = with(body, "key", options, Enqueue::uniqueKey);
        options = window(body, options);
        options = with(body, "queue", options, Enqueue::queue);
        options = with(body, "fifoKey", options, Enqueue::fifoKey);
        int most = body.integer("concurrency").orElse(1);
        options = with(body, "concurrencyKey", options, (before, key) -> before.concurrencyKey(key, most));
        return policy(body, rate(body, options));
    }

    private static Enqueue policy(JsonFields body, Enqueue before) {
        Run.Policy policy = RetryJson.readPolicy(body);
        Retry retry = policy.retry();
        Duration timeout = policy.timeout();
        Enqueue options = retry == null ? before : before.retry(retry);
        return timeout == null ? options : options.timeout(timeout);
    }

    private static Enqueue due(JsonFields body) {
        Optional<Instant> at = body.instant("at");
        Optional<Duration> after = body.duration("after");
        if (at.isPresent() && after.isPresent())
            throw Problem.invalid("/at", "\"at\" and \"after\" cannot be combined. Leave one of them out.");
        if (at.isPresent()) return body.convert("at", () -> Enqueue.at(at.get()));
        if (after.isPresent()) return body.convert("after", () -> Enqueue.after(after.get()));
        return Enqueue.now();
    }

    private static Enqueue window(JsonFields body, Enqueue before) {
        Optional<Duration> window = body.duration("keyWindow");
        if (window.isEmpty()) return before;
        String key = body.required("key", body.text("key"));
        return body.convert("keyWindow", () -> before.uniqueKey(key, window.get()));
    }

    private static Enqueue rate(JsonFields body, Enqueue before) {
        Optional<String> key = body.text("rateKey");
        Optional<Integer> starts = body.integer("rateStarts");
        Optional<Duration> in = body.duration("rateIn");
        if (key.isEmpty() && starts.isEmpty() && in.isEmpty()) return before;
        String of = body.required("rateKey", key);
        int most = body.required("rateStarts", starts);
        Duration window = body.required("rateIn", in);
        return body.convert("rateKey", () -> before.rateKey(of, most, window));
    }

    private interface EnqueueOptionSetter {
        Enqueue apply(Enqueue before, String text);
    }

    private static Enqueue with(JsonFields body, String name, Enqueue before, EnqueueOptionSetter enqueueOptionSetter) {
        Optional<String> value = body.text(name);
        return value.isEmpty() ? before : body.convert(name, () -> enqueueOptionSetter.apply(before, value.get()));
    }
}
