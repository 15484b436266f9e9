package io.carillon.it.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.PauseOptions;
import io.carillon.QueueLimits;
import io.carillon.internal.value.TextCleaner;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Invalid input to an open Carillon: each error has a code and a clear message, and no table changes. */
@CarillonTest
class BadInputTest {
    record Job(String text) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final When HOURLY = When.cron("0 * * * *", "UTC");
    private static final Job FINE = new Job("fine");
    private static final List<String> BAD_NAMES =
            List.of("", "Upper", "a b", "a/b", "'; DROP TABLE carillon.run; --", "nul\0", "\uD800", "x".repeat(101));
    private final ApiFixture fixture;
    private Carillon carillon;
    private Map<String, String> before;

    BadInputTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @BeforeEach
    void create_sample_data() {
        carillon = fixture.client(builder -> builder.handle(JOB, (job, run) -> {}));
        carillon.enqueue(JOB, FINE, Enqueue.after(Duration.ofHours(1)).uniqueKey("k"));
        carillon.schedules().upsert("there", HOURLY, JOB, FINE);
        before = fixture.tableDigests();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void payloads_that_cannot_be_stored() {
        refused(ErrorCode.PAYLOAD_TOO_LARGE, () -> carillon.enqueue(JOB, new Job("x".repeat(300 * 1024))));
        refused(ErrorCode.PAYLOAD_UNWRITABLE, () -> carillon.enqueue(JOB, new Job("a\0b")));
        refused(ErrorCode.PAYLOAD_UNWRITABLE, () -> carillon.enqueue(JOB, new Job("\uD83D")));
        refused(ErrorCode.PAYLOAD_UNWRITABLE, () -> carillon.enqueue(JOB, null));
        refused(ErrorCode.PAYLOAD_UNWRITABLE, () -> carillon.enqueueAll(JOB, List.of(FINE, FINE, new Job("\0"), FINE)));
        refused(ErrorCode.PAYLOAD_UNWRITABLE, () -> carillon.schedules().upsert("new", HOURLY, JOB, new Job("a\0b")));
        refused(
                ErrorCode.PAYLOAD_TOO_LARGE,
                () -> carillon.schedules().upsert("there", HOURLY, JOB, new Job("x".repeat(300 * 1024))));
    }

    @Test
    void options_outside_their_ranges() {
        refused(ErrorCode.INVALID_OPTION, () -> carillon.enqueue(JOB, FINE, Enqueue.after(Duration.ofNanos(-1))));
        refused(ErrorCode.INVALID_OPTION, () -> carillon.enqueue(JOB, FINE, Enqueue.at(Instant.MAX)));
        refused(
                ErrorCode.INVALID_NAME,
                () -> carillon.enqueue(JOB, FINE, Enqueue.now().uniqueKey("a\0")));
        refused(
                ErrorCode.INVALID_OPTION,
                () -> carillon.enqueue(JOB, FINE, Enqueue.now().concurrencyKey("c", 0)));
        refused(
                ErrorCode.INVALID_OPTION,
                () -> carillon.enqueue(
                        JOB, FINE, Enqueue.now().concurrencyKey("c").fifoKey("f")));
        refused(
                ErrorCode.INVALID_NAME,
                () -> carillon.enqueue(JOB, FINE, Enqueue.now().fifoKey("")));
        refused(
                ErrorCode.INVALID_OPTION,
                () -> carillon.runs().list(RunFilter.all().limit(0)));
        refused(ErrorCode.INVALID_OPTION, () -> carillon.schedules().preview(HOURLY, Instant.EPOCH, 0));
        refused(ErrorCode.INVALID_OPTION, () -> carillon.queues().limit("default", QueueLimits.maxRunning(0)));
        refused(ErrorCode.INVALID_OPTION, () -> carillon.queues().limit("default", QueueLimits.rate(1, Duration.ZERO)));
        refused(
                ErrorCode.INVALID_OPTION,
                () -> carillon.queues().limit("default", QueueLimits.rate(1, Duration.ofDays(2))));
        refused(ErrorCode.INVALID_NAME, () -> carillon.queues().limit("no queue", QueueLimits.maxRunning(1)));
        refused(ErrorCode.INVALID_OPTION, () -> carillon.schedules().pause("there", PauseOptions.until(Instant.MAX)));
        refused(
                ErrorCode.INVALID_OPTION,
                () -> carillon.queues().pause("job", PauseOptions.until(Instant.parse("2100-01-01T00:00:00Z"))));
        refused(ErrorCode.INVALID_OPTION, () -> carillon.schedules().backfill("there", Instant.EPOCH, Instant.MAX));
        refused(
                ErrorCode.INVALID_OPTION,
                () -> carillon.schedules()
                        .upsert(
                                "there",
                                HOURLY,
                                JOB,
                                FINE,
                                ScheduleOptions.defaults().missedCap(0)));
        refused(
                ErrorCode.INVALID_OPTION,
                () -> carillon.schedules()
                        .upsert(
                                "there",
                                HOURLY,
                                JOB,
                                FINE,
                                ScheduleOptions.defaults().grace(Duration.ZERO)));
    }

    @Test
    void invalid_timings() {
        refused(
                ErrorCode.CRON_SYNTAX,
                () -> carillon.schedules().upsert("new", When.cron("61 * * * *", "UTC"), JOB, FINE));
        refused(
                ErrorCode.UNKNOWN_ZONE,
                () -> carillon.schedules().upsert("new", When.cron("0 * * * *", "Mars/Olympus"), JOB, FINE));
        for (When never : List.of(
                When.cron("0 0 30 2 *", "UTC"),
                When.cron("0 0 31 4 *", "UTC"),
                When.once(Instant.parse("2020-01-01T00:00:00Z")),
                HOURLY.until(Instant.parse("2020-01-01T00:00:00Z")),
                When.cron("0 0 29 2 *", "UTC")
                        .from(Instant.parse("2201-01-01T00:00:00Z"))
                        .until(Instant.parse("2201-12-31T00:00:00Z")))) {
            long start = System.nanoTime();
            refused(ErrorCode.NO_INSTANTS, () -> carillon.schedules().upsert("new", never, JOB, FINE));
            refused(ErrorCode.NO_INSTANTS, () -> carillon.schedules().upsert("there", never, JOB, FINE));
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
        }
        carillon.schedules().upsert("leap-monday", When.cron("0 0 29 2 1", "UTC"), JOB, FINE);
    }

    @Test
    void timings_that_never_fire_are_rejected_within_50_ms() {
        for (String never : List.of("0 0 30 2 *", "0 0 31 4 *")) {
            long best = Long.MAX_VALUE;
            for (int i = 0; i < 10; i++) {
                long start = System.nanoTime();
                Throwable refusal = catchThrowable(
                        () -> carillon.schedules().upsert("new", When.cron(never, "Europe/Berlin"), JOB, FINE));
                best = Math.min(best, System.nanoTime() - start);
                assertThat(refusal).isInstanceOf(CarillonException.class);
            }
            assertThat(Duration.ofNanos(best)).isLessThan(Duration.ofMillis(50));
        }
    }

    @Test
    void unusual_payloads_arrive_unchanged() {
        record Odd(BigDecimal huge, double zero, String text, List<String> many) {}
        HandlerType<Odd> type = HandlerType.of("odd", Odd.class);
        List<Odd> arrived = new ArrayList<>();
        Carillon client = fixture.client(builder -> builder.handle(type, (odd, run) -> arrived.add(odd)));
        Odd odd = new Odd(
                new BigDecimal("1e400"), -0.0, "\u202Eright to left \uD83D\uDE00 </script> %_'\"\\", List.of("", " "));

        client.enqueue(type, odd);
        client.runDue(Duration.ofSeconds(20));

        assertThat(arrived).containsExactly(odd);
        assertThat(Double.doubleToRawLongBits(arrived.get(0).zero())).isEqualTo(Double.doubleToRawLongBits(-0.0));
    }

    @Test
    void payloads_nested_too_deeply() {
        HandlerType<Object> any = HandlerType.of("any", Object.class);
        Object deep = List.of();
        for (int i = 0; i < 10_000; i++) deep = List.of(deep);
        Object nested = deep;

        refused(ErrorCode.PAYLOAD_UNWRITABLE, () -> carillon.enqueue(any, nested));
    }

    @Test
    void instants_outside_the_calendar() {
        for (Instant outside : List.of(
                Instant.EPOCH.minusNanos(1), Instant.parse("+10000-01-01T00:00:00Z"), Instant.MIN, Instant.MAX)) {
            refused(ErrorCode.INVALID_OPTION, () -> carillon.enqueue(JOB, FINE, Enqueue.at(outside)));
            refused(ErrorCode.NO_INSTANTS, () -> carillon.schedules().upsert("new", When.once(outside), JOB, FINE));
        }
        refused(
                ErrorCode.INVALID_OPTION,
                () -> carillon.schedules()
                        .upsert("new", HOURLY.until(Instant.parse("+10000-01-01T00:00:00Z")), JOB, FINE));
        refused(
                ErrorCode.INVALID_OPTION,
                () -> carillon.schedules()
                        .upsert("new", HOURLY.from(Instant.parse("-0001-01-01T00:00:00Z")), JOB, FINE));
    }

    @Test
    void bad_names_everywhere() {
        for (String name : BAD_NAMES) {
            refused(ErrorCode.INVALID_NAME, () -> carillon.schedules().upsert(name, HOURLY, JOB, FINE));
            refused(
                    ErrorCode.INVALID_NAME,
                    () -> carillon.enqueue(JOB, FINE, Enqueue.now().queue(name)));
            refused(ErrorCode.INVALID_NAME, () -> HandlerType.of(name, Job.class));
            refused(ErrorCode.INVALID_NAME, () -> carillon.queues().pause(name));
            refused(ErrorCode.INVALID_NAME, () -> carillon.queues().resume(name));
            refused(
                    ErrorCode.INVALID_NAME,
                    () -> carillon.runs().list(RunFilter.all().queue(name)));
        }
    }

    @Test
    void invalid_names_of_schedules() {
        for (String name : BAD_NAMES) {
            refused(ErrorCode.INVALID_NAME, () -> carillon.schedules().get(name));
            refused(ErrorCode.INVALID_NAME, () -> carillon.schedules().pause(name));
            refused(ErrorCode.INVALID_NAME, () -> carillon.schedules().resume(name));
            refused(ErrorCode.INVALID_NAME, () -> carillon.schedules().trigger(name));
            refused(ErrorCode.INVALID_NAME, () -> carillon.schedules().delete(name));
            refused(ErrorCode.INVALID_NAME, () -> carillon.schedules().ledger(name, Instant.EPOCH, Instant.EPOCH));
        }
    }

    @Test
    void unknown_ids() {
        refused(ErrorCode.MALFORMED_ID, () -> carillon.runs().get(RunId.parse("run_%_' OR 1=1")));
        assertThat(carillon.runs().get(RunId.generate())).isEmpty();
    }

    @Test
    void contradictory_builder_options() {
        refused(
                ErrorCode.DUPLICATE_HANDLER,
                builder -> builder.handle(JOB, (a, b) -> {}).handle(JOB, (a, b) -> {}));
        refused(
                ErrorCode.DUPLICATE_HANDLER,
                builder -> builder.handle(JOB, (a, b) -> {})
                        .handleInTransaction(
                                HandlerType.of("other", Job.class).accepting("job", json -> FINE), (a, b, c) -> {}));
        refused(
                ErrorCode.DUPLICATE_SCHEDULE,
                builder -> builder.schedule("twice", HOURLY, JOB, FINE).schedule("twice", HOURLY, JOB, FINE));
        refused(ErrorCode.INVALID_NAME, builder -> builder.schedule("a b", HOURLY, JOB, FINE));
        refused(ErrorCode.INVALID_NAME, builder -> builder.project("My Project"));
        refused(ErrorCode.INVALID_NAME, builder -> builder.nodeName("a b"));
        refused(ErrorCode.INVALID_OPTION, builder -> builder.concurrency(0));
        refused(
                ErrorCode.INVALID_OPTION,
                builder -> builder.handle(
                        JOB, (a, b) -> {}, HandlerOptions.defaults().timeout(Duration.ZERO)));
    }

    @Test
    void an_invalid_payload_in_the_builder_prevents_writing_any_schedule() {
        refused(
                ErrorCode.PAYLOAD_UNWRITABLE,
                builder -> builder.schedule("one", HOURLY, JOB, FINE).schedule("two", HOURLY, JOB, new Job("\0")));
    }

    private void refused(ErrorCode code, UnaryOperator<CarillonBuilder> builder) {
        refused(code, () -> builder.apply(fixture.builder()).start().close());
    }

    private void refused(ErrorCode code, ThrowingCallable call) {
        Throwable refusal = catchThrowable(call);

        assertThat(refusal).as("accepted without an exception").isInstanceOf(CarillonException.class);
        assertThat(((CarillonException) refusal).code()).isEqualTo(code);
        assertThat(refusal.getMessage()).hasSizeBetween(20, 600).matches(TextCleaner::isClean);
        assertThat(fixture.tableDigests())
                .as("after '%s'", refusal.getMessage())
                .isEqualTo(before);
    }
}
