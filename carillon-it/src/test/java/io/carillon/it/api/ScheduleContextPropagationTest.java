package io.carillon.it.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.Wakeup;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.opentelemetry.CarillonTraces;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import io.carillon.spi.AuthorizationPropagator;
import io.carillon.spi.ContextPropagator;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Traces and authorizations are stored with a schedule and passed from its caller to its runs. */
@CarillonTest(at = "2026-05-04T12:00:30Z")
class ScheduleContextPropagationTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final SecretKeySpec KEY = new SecretKeySpec(new byte[32], "AES");
    private static final When MINUTES = When.cron("* * * * *", "UTC");
    private static final Duration HOUR = Duration.ofHours(1);

    private final ApiFixture fixture;
    private final TestClock clock;
    private final Queue<String> seen = new ConcurrentLinkedQueue<>();
    private volatile String caller = "ann";

    ScheduleContextPropagationTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @AfterEach
    void close() {
        fixture.close();
        clock.stopAt(Instant.parse("2026-05-04T12:00:30Z"));
    }

    @Test
    void ticks_triggers_and_backfills_have_the_authorization_of_the_caller_that_saved_the_schedule() {
        AuthorizationPropagator authorizationPropagator = authorization(HOUR);
        Carillon carillon = carillon(authorizationPropagator);
        save(carillon, "a");
        assertThat(headers()).hasSize(2).allMatch(trace -> trace.startsWith("authorization="));
        caller = null;

        advanceAndRunDue(carillon);
        carillon.schedules().trigger("minutes");
        carillon.schedules()
                .backfill("minutes", Instant.parse("2026-05-04T11:58:00Z"), Instant.parse("2026-05-04T11:58:00Z"));
        carillon.runDue(Duration.ofSeconds(5));

        assertThat(seen).containsExactly("ann", "ann", "ann");
        assertThat(fixture.query("SELECT headers FROM carillon.run_history")
                        .rows()
                        .toString())
                .contains("authorization=")
                .doesNotContain("ann");
    }

    @Test
    void saving_the_schedule_again_renews_the_context_and_saving_without_a_context_keeps_it() {
        Carillon carillon = carillon(authorization(HOUR));
        save(carillon, "a");

        caller = "bob";
        save(carillon, "a");
        caller = null;
        save(carillon, "a");
        clock.advance(Duration.ofMinutes(4));
        carillon.runDue(Duration.ofSeconds(5));

        assertThat(carillon.schedules().get("minutes").orElseThrow().version()).isOne();
        // Two ticks were planned before bob saved the schedule; they keep the authorization of ann.
        assertThat(seen).containsExactly("ann", "ann", "bob", "bob");
    }

    @Test
    void a_changed_schedule_has_the_authorization_of_the_caller_that_changed_it() {
        Carillon carillon = carillon(authorization(HOUR));
        save(carillon, "a");
        caller = "bob";
        save(carillon, "b");
        advanceAndRunDue(carillon);
        caller = null;
        save(carillon, "c");
        advanceAndRunDue(carillon);

        assertThat(seen).containsExactly("bob", "none");
    }

    @Test
    void replanning_and_pauses_keep_the_authorization_of_the_caller_that_saved_the_schedule() {
        Carillon carillon = carillon(authorization(HOUR));
        carillon.schedules().upsert("paris", When.cron("* * * * *", "Europe/Paris"), JOB, new Job("x"));
        caller = null;
        fixture.database().execute("UPDATE carillon.schedule SET tzdata = '2000a'");
        advanceAndRunDue(carillon);
        carillon.schedules().pause("paris");
        carillon.schedules().resume("paris");
        advanceAndRunDue(carillon);

        assertThat(carillon.schedules().get("paris").orElseThrow().version()).isEqualTo(4);
        assertThat(seen).containsExactly("ann", "ann");
    }

    @Test
    void an_expired_authorization_or_one_of_another_schedule_is_ignored() {
        Carillon brief = carillon(authorization(Duration.ofMillis(1)));
        save(brief, "a");
        LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
        advanceAndRunDue(brief);
        assertThat(seen).containsExactly("none");
        brief.schedules().delete("minutes");

        Carillon carillon = carillon(authorization(HOUR));
        caller = "root";
        carillon.schedules().upsert("other", When.cron("0 0 1 1 *", "UTC"), JOB, new Job("x"));
        caller = null;
        save(carillon, "a");
        fixture.database()
                .execute("UPDATE carillon.schedule SET headers = (SELECT headers FROM carillon.schedule"
                        + " WHERE name = 'other');"
                        + " UPDATE carillon.run SET headers = (SELECT headers FROM carillon.schedule"
                        + " WHERE name = 'other')");
        advanceAndRunDue(carillon);
        carillon.schedules().trigger("other");
        carillon.runDue(Duration.ofSeconds(5));
        assertThat(seen).containsExactly("none", "none", "root");
    }

    @Test
    void without_context_propagators_nothing_is_stored() {
        Carillon carillon =
                fixture.client(builder -> builder.wakeup(Wakeup.http()).handle(JOB, (job, run) -> {}));
        save(carillon, "a");

        assertThat(fixture.query("SELECT count(*) FROM carillon.schedule WHERE headers IS NOT NULL")
                        .number())
                .isZero();
        assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE headers IS NOT NULL")
                        .number())
                .isZero();
    }

    @Test
    void a_tick_has_its_own_trace_with_a_link_to_the_caller_that_saved_the_schedule() {
        InMemorySpanExporter spans = InMemorySpanExporter.create();
        try (OpenTelemetrySdk telemetry = OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(spans))
                        .build())
                .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                .build()) {
            Carillon carillon = fixture.client(builder -> builder.wakeup(Wakeup.http())
                    .contextPropagator(new CarillonTraces(telemetry))
                    .handle(JOB, (job, run) -> {}));
            Span request = telemetry.getTracer("test").spanBuilder("request").startSpan();
            try (Scope scope = request.makeCurrent()) {
                assertThat(scope).isNotNull();
                save(carillon, "a");
            }
            save(carillon, "a"); // outside any trace, so the stored context stays
            advanceAndRunDue(carillon);

            assertThat(spans.getFinishedSpanItems())
                    .filteredOn(span -> span.getKind() == SpanKind.CONSUMER)
                    .singleElement()
                    .satisfies(span -> {
                        assertThat(span.getTraceId())
                                .isNotEqualTo(request.getSpanContext().getTraceId());
                        assertThat(span.getLinks())
                                .singleElement()
                                .satisfies(link -> assertThat(
                                                link.getSpanContext().getSpanId())
                                        .isEqualTo(request.getSpanContext().getSpanId()));
                    });
        }
    }

    private AuthorizationPropagator authorization(Duration valid) {
        Supplier<String> capture = () -> caller;
        return new AuthorizationPropagator(KEY, valid, capture);
    }

    private Carillon carillon(AuthorizationPropagator authorizationPropagator) {
        ContextPropagator contextPropagator = authorizationPropagator;
        return fixture.client(builder -> builder.wakeup(Wakeup.http())
                .contextPropagator(contextPropagator)
                .handle(
                        JOB,
                        (job, run) -> seen.add(authorizationPropagator.current().orElse("none"))));
    }

    private static void save(Carillon carillon, String payload) {
        carillon.schedules().upsert("minutes", MINUTES, JOB, new Job(payload));
    }

    /** Advances the clock by one minute and executes the due runs. */
    private void advanceAndRunDue(Carillon carillon) {
        clock.advance(Duration.ofMinutes(1));
        carillon.runDue(Duration.ofSeconds(5));
    }

    private List<String> headers() {
        return fixture.query("SELECT headers FROM carillon.run").rows().stream()
                .map(row -> row.get(0))
                .toList();
    }
}
