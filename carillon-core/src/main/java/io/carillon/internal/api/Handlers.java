package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.internal.engine.attempt.BoundHandler;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.run.RunHeaders;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.RunContext;
import io.carillon.spi.PayloadCodec;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The registered handlers, by their current and older names. */
public final class Handlers {
    private static final int MAX_RESULT_BYTES = 64 * 1024;

    /** The general form of all kinds of handlers. The connection is null if the handler is not transactional. */
    @FunctionalInterface
    public interface HandlerCode<T> {
        @Nullable
        Object run(T payload, RunContext run, @Nullable Connection connection) throws Exception;

        /** Returns whether a cancelled attempt releases its run, see {@link BoundHandler#handlesCancel()}. */
        default boolean handlesCancel() {
            return false;
        }
    }

    /** Creates the payload of a handler from an attempt. */
    @FunctionalInterface
    public interface PayloadReader<T> {
        T read(Attempt attempt, PayloadCodec codec);
    }

    public record RegisteredHandler<T>(
            HandlerType<T> type,
            HandlerOptions options,
            boolean transactional,
            HandlerCode<T> handlerCode,
            PayloadReader<T> reader) {
        /** Creates a handler whose payload the codec decodes. */
        public RegisteredHandler(
                HandlerType<T> type, HandlerOptions options, boolean transactional, HandlerCode<T> handlerCode) {
            this(type, options, transactional, handlerCode, (attempt, codec) -> decode(attempt, type, codec));
        }
    }

    private final Map<String, RegisteredHandler<?>> byName = new LinkedHashMap<>();

    public <T> void add(RegisteredHandler<T> handler) {
        Set<String> names = new LinkedHashSet<>(handler.type().olderReaders().keySet());
        names.add(handler.type().name());
        names.forEach(this::requireUnusedName);
        names.forEach(name -> byName.put(name, handler));
    }

    private void requireUnusedName(String name) {
        if (byName.containsKey(name))
            throw new CarillonException(
                    ErrorCode.DUPLICATE_HANDLER,
                    ("Two handlers are registered under the name '%s'. Handler names must be unique, including older"
                                    + " names.")
                            .formatted(name));
    }

    /** Returns the options of a handler; the defaults if this process only enqueues for it. */
    HandlerOptions options(String name) {
        RegisteredHandler<?> handler = byName.get(name);
        return handler == null ? HandlerOptions.defaults() : handler.options();
    }

    /**
     * Returns the configured queue of a handler, or else the queue with the current name of the handler. Runs under an
     * older name use the same queue.
     */
    String queue(String name) {
        RegisteredHandler<?> handler = byName.get(name);
        return handler == null ? name : queue(handler);
    }

    private static String queue(RegisteredHandler<?> handler) {
        String named = handler.options().queue();
        return named == null ? handler.type().name() : named;
    }

    /** Returns whether a handler needs a connection of its own, as each workflow may for a step in a transaction. */
    public boolean anyTransactional() {
        return byName.values().stream()
                .anyMatch(handler ->
                        handler.transactional() || handler.handlerCode().handlesCancel());
    }

    /** Like {@link #bind(PayloadCodec)}, with the context that the headers of a run restore. */
    public Map<String, BoundHandler> bind(PayloadCodec codec, RunHeaders runHeaders) {
        Map<String, BoundHandler> bound = bind(codec);
        bound.replaceAll((name, handler) -> handler.withHeaders(runHeaders));
        return bound;
    }

    public Map<String, BoundHandler> bind(PayloadCodec codec) {
        Map<String, BoundHandler> bound = new LinkedHashMap<>();
        byName.forEach((name, handler) -> bound.put(name, bind(name, handler, codec)));
        return bound;
    }

    private static <T> BoundHandler bind(String name, RegisteredHandler<T> handler, PayloadCodec codec) {
        HandlerOptions options = handler.options();
        return new BoundHandler(
                name,
                queue(handler),
                options.timeout(),
                new RetryRule(options.retry(), options.noRetryOn()),
                handler.transactional(),
                options.keepPayload(),
                (attempt, context, connection) -> {
                    T payload = handler.reader().read(attempt, codec);
                    return outcome(handler.handlerCode().run(payload, context, connection), codec);
                },
                handler.handlerCode().handlesCancel());
    }

    private static <T> T decode(Attempt attempt, HandlerType<T> type, PayloadCodec codec) {
        Function<String, T> older = type.olderReaders().get(attempt.target().name());
        if (older != null) return older.apply(new String(attempt.payload().bytes(), StandardCharsets.UTF_8));
        return codec.decode(attempt.payload().bytes(), type.payloadType());
    }

    private static Outcome outcome(@Nullable Object returned, PayloadCodec codec) {
        Object value = returned instanceof Outcome.Succeeded succeeded ? succeeded.result() : returned;
        if (returned instanceof Outcome outcome && !(returned instanceof Outcome.Succeeded)) return outcome;
        if (value == null) return Outcome.succeeded(null);
        byte[] bytes = codec.encode(value);
        if (bytes.length > MAX_RESULT_BYTES)
            return Outcome.rejected(
                    ("The result has %d bytes; at most %d bytes are stored. Store the data elsewhere and return a"
                                    + " reference.")
                            .formatted(bytes.length, MAX_RESULT_BYTES));
        return Outcome.succeeded(new Payload(bytes, codec.name()));
    }
}
