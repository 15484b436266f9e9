package io.carillon.internal.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.internal.engine.attempt.BoundHandler;
import io.carillon.internal.json.JsonCodec;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.RunHeaders;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Origin;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class HandlersTest {
    record Reminder(String to) {}

    private static final HandlerType<Reminder> REMIND = HandlerType.of("reminder.send", Reminder.class);
    private final Handlers handlers = new Handlers();

    @Test
    void calls_the_handler_by_every_name_and_reads_each_payload_version() throws Exception {
        handlers.add(registered(
                REMIND.accepting("reminder.email", json -> new Reminder("was " + json)),
                (reminder, run, connection) -> reminder.to()));

        assertThat(call("reminder.send", "{\"to\":\"ann\"}")).isEqualTo(result("\"ann\""));
        assertThat(call("reminder.email", "bob")).isEqualTo(result("\"was bob\""));
        assertThat(handlers.bind(new JsonCodec())).containsOnlyKeys("reminder.send", "reminder.email");
    }

    @Test
    void converts_every_return_value_to_an_outcome() throws Exception {
        assertThat(answer(null)).isEqualTo(Outcome.succeeded(null));
        assertThat(answer(42)).isEqualTo(result("42"));
        assertThat(answer(Outcome.succeeded("x"))).isEqualTo(result("\"x\""));
        assertThat(answer(Outcome.succeeded(null))).isEqualTo(Outcome.succeeded(null));
        assertThat(answer(Outcome.rejected("no"))).isEqualTo(Outcome.rejected("no"));
        assertThat(answer(Outcome.snoozed(Duration.ofHours(1)))).isEqualTo(Outcome.snoozed(Duration.ofHours(1)));
        assertThat(answer(Outcome.retryAfter(Duration.ofHours(1)))).isInstanceOf(Outcome.RetryAfter.class);
    }

    @Test
    void stores_results_of_up_to_64_kib() throws Exception {
        assertThat(answer("x".repeat(64 * 1024 - 2))).isInstanceOf(Outcome.Succeeded.class);
        assertThat(answer("x".repeat(64 * 1024 - 1)))
                .isInstanceOfSatisfying(
                        Outcome.Rejected.class,
                        no -> assertThat(no.reason()).contains("65537").contains("65536"));
    }

    @Test
    void refuses_two_handlers_of_one_name() {
        handlers.add(registered(REMIND.accepting("remind", json -> null), (reminder, run, connection) -> null));

        assertThat(code(() -> handlers.add(registered(REMIND, (r, run, connection) -> null))))
                .isEqualTo(ErrorCode.DUPLICATE_HANDLER);
        assertThat(code(() -> handlers.add(
                        registered(HandlerType.of("remind", Reminder.class), (r, run, connection) -> null))))
                .isEqualTo(ErrorCode.DUPLICATE_HANDLER);
    }

    @Test
    void registers_nothing_when_one_name_is_already_taken() {
        handlers.add(registered(REMIND, (reminder, run, connection) -> null));
        HandlerType<Reminder> other = HandlerType.of("other", Reminder.class).accepting("reminder.send", json -> null);

        assertThat(code(() -> handlers.add(registered(other, (r, run, connection) -> null))))
                .isEqualTo(ErrorCode.DUPLICATE_HANDLER);

        assertThat(handlers.bind(new JsonCodec())).containsOnlyKeys("reminder.send");
    }

    @Test
    void applies_handler_options_unless_the_caller_overrides_them() {
        handlers.add(new Handlers.RegisteredHandler<>(
                REMIND,
                HandlerOptions.defaults().queue("mail").priority(Priority.LOW),
                false,
                (reminder, run, connection) -> null));
        RunFactory runFactory = new RunFactory(
                "shop", handlers, new JsonCodec(), new RunHeaders(List.of()), new Uuid7.Sequence(new DatabaseClock()));

        NewRun plain = runFactory.newRun(REMIND, new Reminder("ann"), Enqueue.now());
        NewRun other = runFactory.newRun(
                REMIND,
                new Reminder("ann"),
                Enqueue.at(Instant.EPOCH).queue("fast").priority(Priority.HIGH).uniqueKey("k"));
        NewRun unregistered =
                runFactory.newRun(HandlerType.of("x", Reminder.class), new Reminder("ann"), Enqueue.now());

        assertThat(plain.lane()).isEqualTo(new Lane("mail", "shop"));
        assertThat(plain.priority()).isEqualTo(Priority.LOW);
        assertThat(plain.target()).isEqualTo(Target.handler("reminder.send"));
        assertThat(plain.origin()).isEqualTo(Origin.DIRECT);
        assertThat(other.lane()).isEqualTo(new Lane("fast", "shop"));
        assertThat(other.priority()).isEqualTo(Priority.HIGH);
        assertThat(other.uniqueKey()).isEqualTo("k");
        assertThat(unregistered.lane()).as("no queue is configured").isEqualTo(new Lane("x", "shop"));
    }

    @Test
    void refuses_payloads_that_cannot_be_stored_or_decoded() {
        RunFactory runFactory = new RunFactory(
                "shop", handlers, new JsonCodec(), new RunHeaders(List.of()), new Uuid7.Sequence(new DatabaseClock()));
        Reminder large = new Reminder("x".repeat(256 * 1024));

        assertThat(code(() -> runFactory.newRun(REMIND, large, Enqueue.now()))).isEqualTo(ErrorCode.PAYLOAD_TOO_LARGE);
        assertThat(code(() -> runFactory.newRun(REMIND, new Reminder("a\0"), Enqueue.now())))
                .isEqualTo(ErrorCode.PAYLOAD_UNWRITABLE);
        assertThat(code(() -> runFactory.newRun(REMIND, null, Enqueue.now()))).isEqualTo(ErrorCode.PAYLOAD_UNWRITABLE);
        assertThat(runFactory
                        .newRun(REMIND, new Reminder("x".repeat(256 * 1024 - 9)), Enqueue.now())
                        .payload()
                        .bytes())
                .hasSize(256 * 1024);
    }

    private Outcome answer(Object answer) throws Exception {
        Handlers one = new Handlers();
        one.add(registered(REMIND, (reminder, run, connection) -> answer));
        return call(one, "reminder.send", "{}");
    }

    private Outcome call(String name, String json) throws Exception {
        return call(handlers, name, json);
    }

    private static Outcome call(Handlers handlers, String name, String json) throws Exception {
        BoundHandler bound = handlers.bind(new JsonCodec()).get(name);
        Attempt attempt = new Attempt(
                RunId.generate(),
                1,
                new Lane("default", "default"),
                Priority.NORMAL,
                Origin.DIRECT,
                Target.handler(name),
                new Payload(json.getBytes(StandardCharsets.UTF_8), "json"),
                new Attempt.Times(null, Instant.EPOCH),
                new Attempt.Counts(0, 0, 0),
                null,
                null);
        return bound.call().run(attempt, null, null);
    }

    private static <T> Handlers.RegisteredHandler<T> registered(
            HandlerType<T> type, Handlers.HandlerCode<T> handlerCode) {
        return new Handlers.RegisteredHandler<>(type, HandlerOptions.defaults(), false, handlerCode);
    }

    private static Outcome result(String json) {
        return Outcome.succeeded(new Payload(json.getBytes(StandardCharsets.UTF_8), "json"));
    }

    private static ErrorCode code(ThrowingCallable call) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, call);
        return refusal == null ? null : refusal.code();
    }
}
