package io.carillon;

import io.carillon.engine.BoundHandler;
import io.carillon.run.Attempt;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.PayloadCodec;
import io.carillon.run.RetryRule;
import io.carillon.run.RunContext;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The handlers a user registered, by every name they answer to. */
final class Handlers {
    private static final int RESULT_LIMIT = 64 * 1024;

    /** User code in its most general form. */
    @FunctionalInterface
    interface Code<T> {
        @Nullable
        Object run(T payload, RunContext run, @Nullable Connection connection) throws Exception;
    }

    record Registered<T>(HandlerType<T> type, HandlerOptions options, boolean transactional, Code<T> code) {}

    private final Map<String, Registered<?>> byName = new LinkedHashMap<>();

    <T> void add(Registered<T> handler) {
        Set<String> names = new LinkedHashSet<>(handler.type().older().keySet());
        names.add(handler.type().name());
        names.forEach(this::refuseTwice);
        names.forEach(name -> byName.put(name, handler));
    }

    private void refuseTwice(String name) {
        if (byName.containsKey(name))
            throw new CarillonException(
                    ErrorCode.DUPLICATE_HANDLER,
                    "Two handlers are registered under the name '%s'. Give each handler a name of its own."
                            .formatted(name));
    }

    /** The options of a handler, or the defaults where this process only enqueues for it. */
    HandlerOptions options(String name) {
        Registered<?> handler = byName.get(name);
        return handler == null ? HandlerOptions.defaults() : handler.options();
    }

    /** The queue of a handler: the one it names, else the one with its own name. Runs under an older name go where those of today's go. */
    String queue(String name) {
        Registered<?> handler = byName.get(name);
        return handler == null ? name : queue(handler);
    }

    private static String queue(Registered<?> handler) {
        String named = handler.options().queue();
        return named == null ? handler.type().name() : named;
    }

    boolean anyTransactional() {
        return byName.values().stream().anyMatch(Registered::transactional);
    }

    Map<String, BoundHandler> bind(PayloadCodec codec) {
        Map<String, BoundHandler> bound = new LinkedHashMap<>();
        byName.forEach((name, handler) -> bound.put(name, bind(name, handler, codec)));
        return bound;
    }

    private static <T> BoundHandler bind(String name, Registered<T> handler, PayloadCodec codec) {
        HandlerOptions options = handler.options();
        return new BoundHandler(
                name,
                queue(handler),
                options.timeout(),
                new RetryRule(options.retry(), options.never()),
                handler.transactional(),
                options.keepPayload(),
                (attempt, context, connection) -> {
                    T payload = decode(attempt, handler.type(), codec);
                    return outcome(handler.code().run(payload, context, connection), codec);
                });
    }

    private static <T> T decode(Attempt attempt, HandlerType<T> type, PayloadCodec codec) {
        Function<String, T> older = type.older().get(attempt.target().name());
        if (older != null) return older.apply(new String(attempt.payload().bytes(), StandardCharsets.UTF_8));
        return codec.decode(attempt.payload().bytes(), type.type());
    }

    private static Outcome outcome(@Nullable Object answer, PayloadCodec codec) {
        Object value = answer instanceof Outcome.Succeeded succeeded ? succeeded.result() : answer;
        if (answer instanceof Outcome outcome && !(answer instanceof Outcome.Succeeded)) return outcome;
        if (value == null) return Outcome.succeeded(null);
        byte[] bytes = codec.encode(value);
        if (bytes.length > RESULT_LIMIT)
            return Outcome.rejected(
                    "The result has %d bytes; at most %d are stored. Store it elsewhere and return where."
                            .formatted(bytes.length, RESULT_LIMIT));
        return Outcome.succeeded(new Payload(bytes, codec.name()));
    }
}
