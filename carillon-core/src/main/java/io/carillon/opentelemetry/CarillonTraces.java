package io.carillon.opentelemetry;

import io.carillon.run.Attempt;
import io.carillon.run.Companion;
import io.carillon.run.NewRun;
import io.carillon.run.Outcome;
import io.carillon.value.PublicId;
import io.carillon.value.WallClock;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

/**
 * A producer span where a run is enqueued and a consumer span around each attempt, joined by the context that is stored with the run. A run that was enqueued
 * a moment ago continues the trace of its caller; one that waited longer starts its own and links back, for no trace should last for days. Give it to
 * {@code CarillonBuilder.companion}.
 */
public final class CarillonTraces implements Companion {
    private static final Duration SAME_TRACE = Duration.ofMinutes(5);
    private static final String SENT = "sent";

    private static final TextMapGetter<Map<String, String>> GETTER =
            (carrier, key) -> carrier == null ? null : carrier.get(key.toLowerCase(Locale.ROOT));

    private final Tracer tracer;
    private final TextMapPropagator propagator;
    private final Duration sameTrace;

    public CarillonTraces(OpenTelemetry telemetry) {
        this(telemetry, SAME_TRACE);
    }

    /** {@code sameTrace}: a run that waited longer than this starts a trace of its own. */
    public CarillonTraces(OpenTelemetry telemetry, Duration sameTrace) {
        this.tracer = telemetry.getTracer("io.carillon");
        this.propagator = telemetry.getPropagators().getTextMapPropagator();
        this.sameTrace = sameTrace;
    }

    @Override
    public Map<String, String> pack(NewRun run) {
        Span span = tracer.spanBuilder("send " + run.lane().queue())
                .setSpanKind(SpanKind.PRODUCER)
                .setAttribute("messaging.system", "carillon")
                .setAttribute("messaging.operation.type", "send")
                .setAttribute("messaging.destination.name", run.lane().queue())
                .setAttribute("messaging.message.id", run.id().toString())
                .setAttribute("carillon.handler", run.target().name())
                .startSpan();
        try {
            Map<String, String> packed = new LinkedHashMap<>();
            propagator.inject(
                    Context.current().with(span),
                    packed,
                    (carrier, key, value) -> packed.put(key.toLowerCase(Locale.ROOT), value));
            packed.put(SENT, Long.toString(WallClock.millis()));
            return packed;
        } finally {
            span.end();
        }
    }

    /** Its runs come at their own time, each in a trace of its own: they link to whoever saved the schedule, if that was part of a trace. */
    @Override
    public Map<String, String> packSchedule(UUID schedule) {
        if (!Span.current().getSpanContext().isValid()) return Map.of();
        Map<String, String> packed = new LinkedHashMap<>();
        propagator.inject(
                Context.current(), packed, (carrier, key, value) -> packed.put(key.toLowerCase(Locale.ROOT), value));
        return packed;
    }

    @Override
    public Outcome unpack(Attempt attempt, Map<String, String> packed, Rest rest) throws Exception {
        Span span = consumer(attempt, packed).startSpan();
        Scope scope = span.makeCurrent();
        try {
            Outcome outcome = rest.run();
            if (outcome instanceof Outcome.Failed || outcome instanceof Outcome.Rejected)
                span.setStatus(StatusCode.ERROR)
                        .setAttribute(
                                "error.type", outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT));
            return outcome;
        } catch (Throwable failure) {
            span.setStatus(StatusCode.ERROR)
                    .recordException(failure)
                    .setAttribute("error.type", failure.getClass().getName());
            throw failure;
        } finally {
            scope.close();
            span.end();
        }
    }

    private SpanBuilder consumer(Attempt attempt, Map<String, String> packed) {
        SpanBuilder builder = tracer.spanBuilder("process " + attempt.lane().queue())
                .setSpanKind(SpanKind.CONSUMER)
                .setAttribute("messaging.system", "carillon")
                .setAttribute("messaging.operation.type", "process")
                .setAttribute("messaging.destination.name", attempt.lane().queue())
                .setAttribute("messaging.message.id", attempt.run().toString())
                .setAttribute("carillon.handler", attempt.target().name())
                .setAttribute("carillon.attempt", attempt.number());
        Attempt.Link link = attempt.link();
        if (link != null && link.schedule() != null)
            builder.setAttribute("carillon.schedule", PublicId.format("sched", link.schedule()));
        Context sender = propagator.extract(Context.root(), packed, GETTER);
        if (recent(packed)) return builder.setParent(sender);
        return builder.setNoParent().addLink(Span.fromContext(sender).getSpanContext());
    }

    private boolean recent(Map<String, String> packed) {
        try {
            return WallClock.millis() - Long.parseLong(packed.getOrDefault(SENT, "0")) <= sameTrace.toMillis();
        } catch (NumberFormatException foreign) {
            return false;
        }
    }
}
