package io.carillon.opentelemetry;

import io.carillon.internal.value.WallClock;
import io.carillon.run.Outcome;
import io.carillon.schedule.ScheduleId;
import io.carillon.spi.ContextPropagator;
import io.carillon.spi.RunInfo;
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
import org.jspecify.annotations.Nullable;

/**
 * Creates OpenTelemetry spans: a producer span for each enqueue and a consumer span for each attempt, connected by the
 * context that is stored with the run. A run that starts within 5 minutes continues the trace of its caller. A run that
 * waits longer starts its own trace with a link to the caller, so that no trace lasts for days. Register the instance
 * with {@code CarillonBuilder.contextPropagator}.
 */
public final class CarillonTraces implements ContextPropagator {
    private static final Duration SAME_TRACE_LIMIT = Duration.ofMinutes(5);
    private static final String SENT = "sent";

    /** Not a lambda: in older versions the interface has a second abstract method. */
    private static final TextMapGetter<Map<String, String>> GETTER = new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Map<String, String> carrier) {
            return carrier.keySet();
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> carrier, String key) {
            return carrier == null ? null : carrier.get(key.toLowerCase(Locale.ROOT));
        }
    };

    private final Tracer tracer;
    private final TextMapPropagator propagator;
    private final Duration sameTraceLimit;

    /** Creates an instance with the default limit of 5 minutes. */
    public CarillonTraces(OpenTelemetry telemetry) {
        this(telemetry, SAME_TRACE_LIMIT);
    }

    /**
     * Creates an instance with another limit.
     *
     * @param sameTraceLimit a run that waits longer than this starts its own trace
     */
    public CarillonTraces(OpenTelemetry telemetry, Duration sameTraceLimit) {
        this.tracer = telemetry.getTracer("io.carillon");
        this.propagator = telemetry.getPropagators().getTextMapPropagator();
        this.sameTraceLimit = sameTraceLimit;
    }

    @Override
    public Map<String, String> capture(RunInfo run) {
        Span span = tracer.spanBuilder("send " + run.queue())
                .setSpanKind(SpanKind.PRODUCER)
                .setAttribute("messaging.system", "carillon")
                .setAttribute("messaging.operation.type", "send")
                .setAttribute("messaging.destination.name", run.queue())
                .setAttribute("messaging.message.id", run.id().toString())
                .setAttribute("carillon.handler", run.target().name())
                .startSpan();
        try {
            Map<String, String> headers = new LinkedHashMap<>();
            propagator.inject(
                    Context.current().with(span),
                    headers,
                    (carrier, key, value) -> headers.put(key.toLowerCase(Locale.ROOT), value));
            headers.put(SENT, Long.toString(WallClock.millis()));
            return headers;
        } finally {
            span.end();
        }
    }

    /**
     * Captures the span of the caller that saves the schedule. Each run of the schedule starts its own trace with a
     * link to that span, if there is one.
     */
    @Override
    public Map<String, String> captureForSchedule(ScheduleId schedule) {
        if (!Span.current().getSpanContext().isValid()) return Map.of();
        Map<String, String> headers = new LinkedHashMap<>();
        propagator.inject(
                Context.current(), headers, (carrier, key, value) -> headers.put(key.toLowerCase(Locale.ROOT), value));
        return headers;
    }

    @Override
    public Outcome runWithContext(RunInfo run, Map<String, String> headers, AttemptCall attemptCall) throws Exception {
        Span span = consumerSpan(run, headers).startSpan();
        Scope scope = span.makeCurrent();
        try {
            Outcome outcome = attemptCall.call();
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

    private SpanBuilder consumerSpan(RunInfo run, Map<String, String> headers) {
        SpanBuilder builder = tracer.spanBuilder("process " + run.queue())
                .setSpanKind(SpanKind.CONSUMER)
                .setAttribute("messaging.system", "carillon")
                .setAttribute("messaging.operation.type", "process")
                .setAttribute("messaging.destination.name", run.queue())
                .setAttribute("messaging.message.id", run.id().toString())
                .setAttribute("carillon.handler", run.target().name())
                .setAttribute("carillon.attempt", run.attempt());
        ScheduleId schedule = run.schedule();
        if (schedule != null) builder.setAttribute("carillon.schedule", schedule.toString());
        Context sender = propagator.extract(Context.root(), headers, GETTER);
        if (isRecent(headers)) return builder.setParent(sender);
        return builder.setNoParent().addLink(Span.fromContext(sender).getSpanContext());
    }

    private boolean isRecent(Map<String, String> headers) {
        try {
            return WallClock.millis() - Long.parseLong(headers.getOrDefault(SENT, "0")) <= sameTraceLimit.toMillis();
        } catch (NumberFormatException foreign) {
            return false;
        }
    }
}
