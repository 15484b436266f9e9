package io.carillon.it.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Authorization;
import io.carillon.Carillon;
import io.carillon.it.frontdoor.House;
import io.carillon.opentelemetry.CarillonTraces;
import io.carillon.run.Companion;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import io.carillon.store.Wakeup;
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

/** Traces and authorization travel with the runs of a schedule, from whoever saved it. */
@CarillonTest(at = "2026-05-04T12:00:30Z")
class ScheduleCompanionsTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final SecretKeySpec KEY = new SecretKeySpec(new byte[32], "AES");
    private static final When MINUTES = When.cron("* * * * *", "UTC");
    private static final Duration HOUR = Duration.ofHours(1);

    private final House house;
    private final TestClock clock;
    private final Queue<String> seen = new ConcurrentLinkedQueue<>();
    private volatile String caller = "ann";

    ScheduleCompanionsTest(TestDatabase database, TestClock clock) {
        this.house = new House(database);
        this.clock = clock;
    }

    @AfterEach
    void close() {
        house.close();
        clock.at(Instant.parse("2026-05-04T12:00:30Z"));
    }

    @Test
    void ticks_triggers_and_backfills_run_on_behalf_of_whoever_saved_the_schedule() {
        Authorization authorization = authorization(HOUR);
        Carillon carillon = carillon(authorization);
        save(carillon, "a");
        assertThat(traces()).hasSize(2).allMatch(trace -> trace.startsWith("authorization="));
        caller = null;

        tick(carillon);
        carillon.schedules().trigger("minutes");
        carillon.schedules()
                .backfill("minutes", Instant.parse("2026-05-04T11:58:00Z"), Instant.parse("2026-05-04T11:58:00Z"));
        carillon.tick(Duration.ofSeconds(5));

        assertThat(seen).containsExactly("ann", "ann", "ann");
        assertThat(house.rows("SELECT trace FROM carillon.run_history").toString())
                .contains("authorization=")
                .doesNotContain("ann");
    }

    @Test
    void whoever_confirms_the_schedule_renews_it_and_whoever_has_none_leaves_it() {
        Carillon carillon = carillon(authorization(HOUR));
        save(carillon, "a");

        caller = "bob";
        save(carillon, "a");
        caller = null;
        save(carillon, "a");
        clock.advance(Duration.ofMinutes(4));
        carillon.tick(Duration.ofSeconds(5));

        assertThat(carillon.schedules().get("minutes").orElseThrow().version()).isOne();
        // Two were planned before bob came, and belong to ann.
        assertThat(seen).containsExactly("ann", "ann", "bob", "bob");
    }

    @Test
    void a_change_runs_on_behalf_of_whoever_made_it() {
        Carillon carillon = carillon(authorization(HOUR));
        save(carillon, "a");
        caller = "bob";
        save(carillon, "b");
        tick(carillon);
        caller = null;
        save(carillon, "c");
        tick(carillon);

        assertThat(seen).containsExactly("bob", "nobody");
    }

    @Test
    void what_changes_by_itself_is_still_on_behalf_of_whoever_saved_it() {
        Carillon carillon = carillon(authorization(HOUR));
        carillon.schedules().upsert("paris", When.cron("* * * * *", "Europe/Paris"), JOB, new Job("x"));
        caller = null;
        house.database().execute("UPDATE carillon.schedule SET tzdata = '2000a'");
        tick(carillon);
        carillon.schedules().pause("paris", "lunch", null);
        carillon.schedules().resume("paris");
        tick(carillon);

        assertThat(carillon.schedules().get("paris").orElseThrow().version()).isEqualTo(4);
        assertThat(seen).containsExactly("ann", "ann");
    }

    @Test
    void an_authorization_that_is_over_or_of_another_schedule_is_none() {
        Carillon brief = carillon(authorization(Duration.ofMillis(1)));
        save(brief, "a");
        LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
        tick(brief);
        assertThat(seen).containsExactly("nobody");
        brief.schedules().delete("minutes");

        Carillon carillon = carillon(authorization(HOUR));
        caller = "root";
        carillon.schedules().upsert("other", When.cron("0 0 1 1 *", "UTC"), JOB, new Job("x"));
        caller = null;
        save(carillon, "a");
        house.database()
                .execute(
                        "UPDATE carillon.schedule SET trace = (SELECT trace FROM carillon.schedule WHERE name = 'other');"
                                + " UPDATE carillon.run SET trace = (SELECT trace FROM carillon.schedule WHERE name = 'other')");
        tick(carillon);
        carillon.schedules().trigger("other");
        carillon.tick(Duration.ofSeconds(5));
        assertThat(seen).containsExactly("nobody", "nobody", "root");
    }

    @Test
    void without_companions_nothing_is_stored() {
        Carillon carillon =
                house.client(builder -> builder.wakeup(Wakeup.http()).handle(JOB, (job, run) -> {}));
        save(carillon, "a");

        assertThat(house.number("SELECT count(*) FROM carillon.schedule WHERE trace IS NOT NULL"))
                .isZero();
        assertThat(house.number("SELECT count(*) FROM carillon.run WHERE trace IS NOT NULL"))
                .isZero();
    }

    @Test
    void a_tick_has_a_trace_of_its_own_that_links_to_whoever_saved_the_schedule() {
        InMemorySpanExporter spans = InMemorySpanExporter.create();
        try (OpenTelemetrySdk telemetry = OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(spans))
                        .build())
                .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                .build()) {
            Carillon carillon = house.client(builder -> builder.wakeup(Wakeup.http())
                    .companion(new CarillonTraces(telemetry))
                    .handle(JOB, (job, run) -> {}));
            Span request = telemetry.getTracer("test").spanBuilder("request").startSpan();
            try (Scope scope = request.makeCurrent()) {
                assertThat(scope).isNotNull();
                save(carillon, "a");
            }
            save(carillon, "a"); // outside any trace: nothing to renew
            tick(carillon);

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

    private Authorization authorization(Duration valid) {
        Supplier<String> capture = () -> caller;
        return new Authorization(KEY, valid, capture);
    }

    private Carillon carillon(Authorization authorization) {
        Companion companion = authorization;
        return house.client(builder -> builder.wakeup(Wakeup.http())
                .companion(companion)
                .handle(JOB, (job, run) -> seen.add(authorization.current().orElse("nobody"))));
    }

    private static void save(Carillon carillon, String payload) {
        carillon.schedules().upsert("minutes", MINUTES, JOB, new Job(payload));
    }

    /** One instant further. */
    private void tick(Carillon carillon) {
        clock.advance(Duration.ofMinutes(1));
        carillon.tick(Duration.ofSeconds(5));
    }

    private List<String> traces() {
        return house.rows("SELECT trace FROM carillon.run").stream()
                .map(row -> row.get(0))
                .toList();
    }
}
