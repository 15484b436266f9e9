package io.carillon.it.api;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.opentelemetry.CarillonTraces;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.spi.AuthorizationPropagator;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Traces and authorizations are stored with a run and passed from its caller to its handler. */
@CarillonTest
class ContextPropagationTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final SecretKeySpec KEY = new SecretKeySpec(new byte[32], "AES");
    private static final Duration HOUR = Duration.ofHours(1);

    private final ApiFixture fixture;
    private final InMemorySpanExporter spans = InMemorySpanExporter.create();
    private final OpenTelemetrySdk telemetry = OpenTelemetrySdk.builder()
            .setTracerProvider(SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(spans))
                    .build())
            .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
            .build();
    private final Queue<String> seen = new ConcurrentLinkedQueue<>();

    ContextPropagationTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
        telemetry.close();
        fixture.database().execute("DELETE FROM carillon.node");
    }

    @Test
    void a_run_continues_the_trace_of_its_caller() {
        Carillon node = traced(
                HOUR,
                builder -> builder.handle(
                        JOB,
                        (job, run) -> seen.add(Span.current().getSpanContext().getTraceId())));
        Span request = telemetry.getTracer("test").spanBuilder("request").startSpan();
        RunId id;
        try (Scope scope = request.makeCurrent()) {
            assertThat(scope).isNotNull();
            id = node.enqueue(JOB, new Job("x")).run();
        }

        awaitState(node, id, RunState.SUCCEEDED);

        SpanData producer = span(SpanKind.PRODUCER);
        SpanData consumer = span(SpanKind.CONSUMER);
        assertThat(producer.getParentSpanId())
                .isEqualTo(request.getSpanContext().getSpanId());
        assertThat(consumer.getParentSpanId()).isEqualTo(producer.getSpanId());
        assertThat(consumer.getTraceId()).isEqualTo(request.getSpanContext().getTraceId());
        assertThat(seen).containsExactly(consumer.getTraceId());
        assertThat(text(consumer, "messaging.system")).isEqualTo("carillon");
        assertThat(text(consumer, "messaging.destination.name")).isEqualTo("job");
        assertThat(text(consumer, "messaging.message.id")).isEqualTo(id.toString());
        assertThat(text(consumer, "carillon.handler")).isEqualTo("job");
        assertThat(consumer.getAttributes().get(AttributeKey.longKey("carillon.attempt")))
                .isOne();
    }

    @Test
    void a_run_that_waited_for_long_starts_a_new_trace_with_a_link_to_its_caller() {
        Carillon node = traced(Duration.ofMillis(1), builder -> builder.handle(JOB, (job, run) -> {}));

        awaitState(
                node,
                node.enqueue(JOB, new Job("x"), Enqueue.after(Duration.ofMillis(50)))
                        .run(),
                RunState.SUCCEEDED);

        SpanData consumer = span(SpanKind.CONSUMER);
        assertThat(consumer.getTraceId()).isNotEqualTo(span(SpanKind.PRODUCER).getTraceId());
        assertThat(consumer.getLinks())
                .singleElement()
                .satisfies(link -> assertThat(link.getSpanContext().getSpanId())
                        .isEqualTo(span(SpanKind.PRODUCER).getSpanId()));
    }

    @Test
    void the_span_of_a_failed_attempt_has_an_error_status() {
        Carillon node = traced(
                HOUR,
                builder -> builder.handle(
                        JOB,
                        (job, run) -> {
                            throw new IllegalStateException("broken");
                        },
                        HandlerOptions.defaults()
                                .retry(Retry.exponential(Duration.ofMillis(1)).attempts(1))));

        awaitState(node, node.enqueue(JOB, new Job("x")).run(), RunState.DEAD);

        SpanData consumer = span(SpanKind.CONSUMER);
        assertThat(consumer.getStatus()).isEqualTo(StatusData.error());
        assertThat(text(consumer, "error.type")).isEqualTo("java.lang.IllegalStateException");
    }

    @Test
    void the_context_is_propagated_by_every_way_of_enqueueing() throws Exception {
        Carillon client = fixture.client(builder -> builder.contextPropagator(new CarillonTraces(telemetry)));

        client.enqueueAll(JOB, Collections.nCopies(3, new Job("few")));
        client.enqueueAll(JOB, Collections.nCopies(2_500, new Job("many")));
        client.enqueue(JOB, new Job("gated"), Enqueue.now().fifoKey("line"));
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            client.in(connection).enqueue(JOB, new Job("mine"));
        }

        assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE headers LIKE 'traceparent=00-%'")
                        .number())
                .isEqualTo(2_505);
    }

    @Test
    void a_handler_gets_the_authorization_of_the_caller_and_the_database_stores_it_encrypted() {
        AuthorizationPropagator authorizationPropagator = new AuthorizationPropagator(KEY, HOUR, () -> "bearer ann");
        Carillon client = fixture.client(builder -> builder.contextPropagator(authorizationPropagator));
        RunId id = client.enqueue(JOB, new Job("x")).run();
        assertThat(fixture.query("SELECT headers FROM carillon.run").text())
                .startsWith("authorization=")
                .doesNotContain("ann");

        Carillon node = reading(authorizationPropagator);

        awaitState(node, id, RunState.SUCCEEDED);
        assertThat(seen).containsExactly("bearer ann");
        assertThat(authorizationPropagator.current()).isEmpty();
    }

    @Test
    void an_expired_foreign_or_moved_authorization_is_ignored() {
        RunId expired = enqueueAs(new AuthorizationPropagator(KEY, Duration.ofMillis(1), () -> "bearer ann"));
        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run"
                                        + " WHERE created_at < carillon.clock() - interval '20 ms'")
                                .number()
                        == 1);
        RunId foreign = enqueueAs(
                new AuthorizationPropagator(new SecretKeySpec(new byte[16], "AES"), HOUR, () -> "bearer ann"));
        RunId none = enqueueAs(new AuthorizationPropagator(KEY, HOUR, () -> null));
        RunId moved = enqueueAs(new AuthorizationPropagator(KEY, HOUR, () -> "bearer ann"));
        RunId other = enqueueAs(new AuthorizationPropagator(KEY, HOUR, () -> "bearer ann"));
        fixture.database()
                .execute("UPDATE carillon.run SET headers = (SELECT headers FROM carillon.run WHERE id = '"
                        + other.value() + "') WHERE id = '" + moved.value() + "'");

        Carillon node = reading(new AuthorizationPropagator(KEY, HOUR, () -> null));

        List.of(expired, foreign, none, moved, other).forEach(id -> awaitState(node, id, RunState.SUCCEEDED));
        assertThat(seen).containsExactlyInAnyOrder("none", "none", "none", "none", "bearer ann");
    }

    private RunId enqueueAs(AuthorizationPropagator authorizationPropagator) {
        return fixture.client(builder -> builder.contextPropagator(authorizationPropagator))
                .enqueue(JOB, new Job("x"))
                .run();
    }

    private Carillon reading(AuthorizationPropagator authorizationPropagator) {
        return fixture.node(builder -> builder.contextPropagator(authorizationPropagator)
                .handle(
                        JOB,
                        (job, run) -> seen.add(authorizationPropagator.current().orElse("none"))));
    }

    private Carillon traced(Duration sameTrace, UnaryOperator<CarillonBuilder> with) {
        return fixture.node(builder -> with.apply(builder.contextPropagator(new CarillonTraces(telemetry, sameTrace))));
    }

    private SpanData span(SpanKind kind) {
        return eventually()
                .until(
                        () -> spans.getFinishedSpanItems().stream()
                                .filter(span -> span.getKind() == kind)
                                .toList(),
                        found -> found.size() == 1)
                .get(0);
    }

    private static String text(SpanData span, String key) {
        return span.getAttributes().get(AttributeKey.stringKey(key));
    }
}
