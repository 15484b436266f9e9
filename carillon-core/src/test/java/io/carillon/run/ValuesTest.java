package io.carillon.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Gate;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ValuesTest {
    @Test
    void a_run_id_parses_its_own_text_only() {
        RunId id = RunId.generate();

        assertThat(RunId.parse(id.toString())).isEqualTo(id);
        assertThat(id.toString()).startsWith("run_");
        assertThat(RunId.generate()).isGreaterThan(id);
        assertThat(code(() -> RunId.parse(id.toString().replace("run_", "sched_"))))
                .isEqualTo(ErrorCode.MALFORMED_ID);
    }

    @Test
    void changing_an_enqueue_option_keeps_the_others() {
        Enqueue all = Enqueue.after(Duration.ofHours(1))
                .priority(Priority.HIGH)
                .uniqueKey("k")
                .queue("mail")
                .concurrencyKey("c");

        assertThat(all.due()).isEqualTo(new Enqueue.Due.After(Duration.ofHours(1)));
        assertThat(all.priority()).isEqualTo(Priority.HIGH);
        assertThat(all.uniqueKey()).isEqualTo("k");
        assertThat(all.keyWindow()).isNull();
        assertThat(all.queue()).isEqualTo("mail");
        assertThat(all.keyLimit()).isEqualTo(new Enqueue.KeyLimit(Enqueue.KeyLimit.Kind.CONCURRENCY, "c", 1, null));
        assertThat(all.uniqueKey("k", Duration.ofHours(2)).keyWindow()).isEqualTo(Duration.ofHours(2));
        assertThat(all.uniqueKey("k", Duration.ofHours(2)).queue("other").keyWindow())
                .isEqualTo(Duration.ofHours(2));
        assertThat(Enqueue.now()).isEqualTo(Enqueue.after(Duration.ZERO));
    }

    @Test
    void an_enqueue_takes_instants_from_1970_to_9999_and_delays_up_to_a_century() {
        assertThat(Enqueue.at(Instant.EPOCH).due()).isEqualTo(new Enqueue.Due.At(Instant.EPOCH));
        assertThat(Enqueue.at(Instant.parse("9999-12-31T23:59:59Z")).due()).isNotNull();
        assertThat(Enqueue.after(Duration.ofDays(36_500)).due()).isNotNull();

        assertThat(code(() -> Enqueue.at(Instant.EPOCH.minusNanos(1)))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Enqueue.at(Instant.parse("+10000-01-01T00:00:00Z"))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Enqueue.at(Instant.MAX))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Enqueue.at(Instant.MIN))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Enqueue.after(Duration.ofNanos(-1)))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Enqueue.after(Duration.ofSeconds(Long.MAX_VALUE))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Enqueue.now().uniqueKey("a\0"))).isEqualTo(ErrorCode.INVALID_NAME);
        assertThat(code(() -> Enqueue.now().queue("A"))).isEqualTo(ErrorCode.INVALID_NAME);
        assertThat(code(() -> Enqueue.now().concurrencyKey(""))).isEqualTo(ErrorCode.INVALID_NAME);
        assertThat(code(() -> Enqueue.now().uniqueKey("k", Duration.ofMillis(999))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Enqueue.now().uniqueKey("k", Duration.ofDays(367))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Enqueue.now().rateKey("k", 0, Duration.ofSeconds(1))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Enqueue.now().rateKey("k", 1, Duration.ofMillis(999))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Enqueue.now().rateKey("k", 1, Duration.ofDays(2))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
    }

    @Test
    void a_gate_is_made_of_the_limit_of_a_key() {
        Duration minute = Duration.ofMinutes(1);

        assertThat(gate(Enqueue.now().concurrencyKey("a", 3))).isEqualTo(new Gate(Gate.Kind.CONCURRENCY, "a", 3, null));
        assertThat(gate(Enqueue.now().fifoKey("b"))).isEqualTo(new Gate(Gate.Kind.FIFO, "b", 1, null));
        assertThat(gate(Enqueue.now().rateKey("c", 5, minute))).isEqualTo(new Gate(Gate.Kind.RATE, "c", 5, minute));
        assertThat(gate(Enqueue.now().fifoKey("b")).name()).isEqualTo("fifo:b");
        assertThat(gate(Enqueue.now().rateKey("c", 5, minute)).name()).isEqualTo("rate:60000:c");
    }

    private static Gate gate(Enqueue options) {
        return Gate.of(options.keyLimit());
    }

    @Test
    void an_error_of_a_key_names_the_key_and_its_limits() {
        Enqueue fifo = Enqueue.now().fifoKey("f");

        assertThatThrownBy(() -> Enqueue.now().concurrencyKey("c", 1_001))
                .hasMessage("limit 1001 of key 'c' is not allowed: it must be between 1 and 1000.");
        assertThatThrownBy(() -> Enqueue.now().rateKey("r", 1, Duration.ofDays(2)))
                .hasMessage("period PT48H of rate key 'r' is not allowed: it must be between 1 second and 1 day.");
        assertThatThrownBy(() -> Enqueue.now().fifoKey("")).hasMessageContaining("fifo key");
        assertThatThrownBy(() -> fifo.rateKey("r", 2, Duration.ofMinutes(1)))
                .hasMessage("A run can have only one of concurrencyKey, fifoKey and rateKey"
                        + " (has fifoKey 'f', cannot add rateKey 'r').");
    }

    @Test
    void a_filter_is_bounded_and_carries_no_text_the_database_cannot_read() {
        RunFilter filter =
                RunFilter.all().queue("q").handler("h@1").state(RunState.DEAD).limit(7);

        assertThat(filter.queue()).isEqualTo("q");
        assertThat(filter.handler()).isEqualTo("h@1");
        assertThat(filter.state()).isEqualTo(RunState.DEAD);
        assertThat(filter.limit()).isEqualTo(7);
        assertThat(code(() -> RunFilter.all().limit(0))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> RunFilter.all().limit(10_001))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> RunFilter.all().queue("%"))).isEqualTo(ErrorCode.INVALID_NAME);
        assertThat(code(() -> RunFilter.all().handler("a\0b"))).isEqualTo(ErrorCode.INVALID_NAME);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Reminder", "a b", "a@1", "x\0"})
    void a_handler_type_has_a_proper_name(String name) {
        assertThat(code(() -> HandlerType.of(name, String.class))).isEqualTo(ErrorCode.INVALID_NAME);
    }

    @Test
    void a_handler_type_accepts_each_older_name_once() {
        HandlerType<String> type = HandlerType.of("a.v2", String.class).accepting("a", json -> json);

        assertThat(type.olderReaders()).containsOnlyKeys("a");
        assertThat(code(() -> type.accepting("a", json -> json))).isEqualTo(ErrorCode.DUPLICATE_HANDLER);
        assertThat(code(() -> type.accepting("a.v2", json -> json))).isEqualTo(ErrorCode.DUPLICATE_HANDLER);
    }

    @ParameterizedTest
    @ValueSource(strings = {"A", "a@1"})
    void a_handler_type_accepts_no_older_name_that_a_run_cannot_have(String olderName) {
        HandlerType<String> type = HandlerType.of("a", String.class);

        assertThat(code(() -> type.accepting(olderName, json -> json))).isEqualTo(ErrorCode.INVALID_NAME);
    }

    @Test
    void a_payload_does_not_show_its_content() {
        Payload payload = new Payload("{\"card\":\"4111\"}".getBytes(StandardCharsets.UTF_8), "json");

        assertThat(payload.toString()).isEqualTo("Payload[15 bytes of json]");
        assertThat(payload).isEqualTo(new Payload(payload.bytes().clone(), "json"));
        assertThat(payload).hasSameHashCodeAs(new Payload(payload.bytes().clone(), "json"));
        assertThat(payload).isNotEqualTo(new Payload(payload.bytes(), "xml"));
    }

    @Test
    void the_idempotency_key_is_the_instant_for_ticks_and_the_run_otherwise() {
        UUID schedule = UUID.fromString("0197c4f0-0000-7000-8000-000000000001");
        Attempt tick = TestAttempts.of(
                TestAttempts.LANE,
                new Attempt.Counts(0, 0, 0),
                new Attempt.References(schedule, null, null, Run.Policy.none()));
        Attempt direct = TestAttempts.any();

        assertThat(tick.idempotencyKey()).startsWith("sched_").endsWith("@2026-01-01T00:00:00Z");
        assertThat(direct.idempotencyKey()).isEqualTo(direct.run().toString());
        assertThat(TestAttempts.of(TestAttempts.LANE, tick.counts(), tick.references())
                        .idempotencyKey())
                .isEqualTo(tick.idempotencyKey());
    }

    @Test
    void an_outcome_refuses_null_components() {
        assertThatNullPointerException().isThrownBy(() -> Outcome.failed(null));
        assertThatNullPointerException().isThrownBy(() -> Outcome.rejected(null));
        assertThatNullPointerException().isThrownBy(() -> Outcome.retryAfter(null));
        assertThatNullPointerException().isThrownBy(() -> Outcome.snoozed(null));
        assertThatNullPointerException().isThrownBy(() -> new Outcome.RetryAfter(Duration.ZERO, null));
        assertThatNullPointerException().isThrownBy(() -> new Outcome.TimedOut(null));
        assertThatNullPointerException().isThrownBy(() -> new Outcome.Cancelled(null));
    }

    @Test
    @ResourceLock(Resources.LOCALE)
    void enum_texts_parse_back_in_every_locale() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("tr-TR"));

            assertThat(RunState.values()).allMatch(state -> RunState.of(state.text()) == state);
            assertThat(Origin.values()).allMatch(origin -> Origin.of(origin.text()) == origin);
            assertThat(Priority.values()).allMatch(one -> Priority.of(one.number()) == one);
            assertThat(Arrays.stream(Priority.values()).mapToInt(Priority::share))
                    .containsExactly(8, 4, 2, 1);
            assertThat(RunState.WAITING.text()).isEqualTo("waiting");
        } finally {
            Locale.setDefault(before);
        }
    }

    private static ErrorCode code(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, call);
        return refusal == null ? null : refusal.code();
    }
}
