package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.CallbackToken;
import io.carillon.run.Outcome;
import io.carillon.webhook.send.SendResult;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ResponseClassifierTest {
    private static final WebhookTarget TARGET = WebhookTarget.post("https://hooks.example/");
    private static final Instant NOW = Instant.parse("2026-11-15T12:00:00Z");
    private static final Duration HOUR = Duration.ofHours(1);

    @ParameterizedTest
    @CsvSource({
        "200,DELIVERED",
        "204,DELIVERED",
        "299,DELIVERED",
        "202,DELIVERED",
        "301,FAILED",
        "302,FAILED",
        "304,FAILED",
        "308,FAILED",
        "400,FAILED",
        "401,FAILED",
        "404,FAILED",
        "408,FAILED",
        "410,GONE",
        "429,SLOW_DOWN",
        "500,FAILED",
        "501,FAILED",
        "502,SLOW_DOWN",
        "503,SLOW_DOWN",
        "504,SLOW_DOWN",
        "599,FAILED"
    })
    void a_status_has_one_meaning(int status, Verdict verdict) {
        assertThat(ResponseClassifier.verdict(TARGET, status)).isEqualTo(verdict);
    }

    @Test
    void only_a_webhook_with_a_callback_waits_for_one() {
        assertThat(ResponseClassifier.verdict(TARGET.callback(HOUR), 202)).isEqualTo(Verdict.ACCEPTED);
        assertThat(ResponseClassifier.verdict(TARGET.callback(HOUR), 200)).isEqualTo(Verdict.DELIVERED);
    }

    @Test
    void the_target_may_say_which_codes_mean_success() {
        assertThat(ResponseClassifier.verdict(TARGET.success(200, 409), 409)).isEqualTo(Verdict.DELIVERED);
        assertThat(ResponseClassifier.verdict(TARGET.success(200, 409), 204)).isEqualTo(Verdict.FAILED);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "30,PT30S",
                " 30 ,PT30S",
                "3600,PT1H",
                "999999999,PT1H",
                "999999999999999999,PT1H",
                "9999999999999999999999,-",
                "0,-",
                "-5,-",
                "1.5,-",
                "soon,-",
                "'Sun, 15 Nov 2026 12:00:20 GMT',PT20S",
                "'Sun, 15 Nov 2026 11:59:00 GMT',-",
                "'Fri, 31 Dec 9999 23:59:59 GMT',PT1H",
                "'15 Nov 2026',-",
                "'',-"
            })
    void retry_after_is_read_in_both_forms_and_capped(String header, Duration pause) {
        assertThat(ResponseClassifier.retryAfter(Map.of("retry-after", header), NOW, HOUR)
                        .orElse(null))
                .isEqualTo(pause);
    }

    @Test
    void a_date_counts_from_the_receivers_own_clock() {
        Map<String, String> headers = Map.of(
                "retry-after", "Sun, 15 Nov 2026 18:00:20 GMT",
                "date", "Sun, 15 Nov 2026 18:00:00 GMT");

        assertThat(ResponseClassifier.retryAfter(headers, NOW, HOUR)).contains(Duration.ofSeconds(20));
    }

    @ParameterizedTest
    @EnumSource(Verdict.class)
    void every_verdict_has_an_outcome(Verdict verdict) {
        Delivery delivery = Delivery.unsent(verdict, "why", null);

        assertThat(ResponseClassifier.outcome(TARGET.callback(HOUR), delivery, CallbackToken.generate()))
                .isInstanceOf(
                        switch (verdict) {
                            case DELIVERED -> Outcome.Succeeded.class;
                            case ACCEPTED -> Outcome.AwaitingCallback.class;
                            case GONE -> Outcome.Rejected.class;
                            case HELD_BACK -> Outcome.Snoozed.class;
                            default -> Outcome.Failed.class;
                        });
    }

    @Test
    void a_pause_the_receiver_asked_for_is_kept() {
        SendResult sendResult = new SendResult.Response(503, Map.of("retry-after", "7"), "");

        assertThat(ResponseClassifier.outcome(
                        TARGET,
                        ResponseClassifier.classify(TARGET, sendResult, NOW, HOUR, 1),
                        CallbackToken.generate()))
                .isEqualTo(new Outcome.RetryAfter(Duration.ofSeconds(7), "status 503, retry after PT7S"));
    }

    @Test
    void every_result_is_classified() {
        assertThat(SendResult.class.getPermittedSubclasses()).hasSize(5);
        assertThat(ResponseClassifier.classify(TARGET, new SendResult.TimedOut(), NOW, HOUR, 1)
                        .verdict())
                .isEqualTo(Verdict.TIMED_OUT);
        assertThat(ResponseClassifier.classify(TARGET, new SendResult.Unreachable(), NOW, HOUR, 1)
                        .verdict())
                .isEqualTo(Verdict.UNREACHABLE);
        assertThat(ResponseClassifier.classify(TARGET, new SendResult.InvalidResponse("x"), NOW, HOUR, 1)
                        .verdict())
                .isEqualTo(Verdict.FAILED);
        assertThat(ResponseClassifier.classify(TARGET, new SendResult.HeldBack("x", HOUR), NOW, HOUR, 1))
                .isEqualTo(Delivery.unsent(Verdict.HELD_BACK, "x", HOUR));
    }
}
