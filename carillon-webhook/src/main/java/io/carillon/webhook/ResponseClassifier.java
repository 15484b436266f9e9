package io.carillon.webhook;

import static java.util.Objects.requireNonNull;

import io.carillon.run.CallbackToken;
import io.carillon.run.Outcome;
import io.carillon.webhook.send.SendResult;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Decides what a response means and what follows for the run. Has no state and no side effects. */
final class ResponseClassifier {
    private static final Set<Integer> SLOW_DOWN_STATUSES = Set.of(429, 502, 503, 504);
    private static final DateTimeFormatter HTTP_DATE = DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ROOT);

    private ResponseClassifier() {}

    /** Returns the delivery for a send result. A pause that the receiver asks for is limited to {@code maxPause}. */
    static Delivery classify(WebhookTarget target, SendResult result, Instant now, Duration maxPause, long millis) {
        if (result instanceof SendResult.Unreachable)
            return withoutResponse(Verdict.UNREACHABLE, target.address() + " could not be reached", millis);
        if (result instanceof SendResult.TimedOut)
            return withoutResponse(
                    Verdict.TIMED_OUT, "no response within " + target.timeouts().total(), millis);
        if (result instanceof SendResult.HeldBack heldBack)
            return Delivery.unsent(Verdict.HELD_BACK, heldBack.reason(), heldBack.pause());
        if (result instanceof SendResult.InvalidResponse invalidResponse)
            return withoutResponse(Verdict.FAILED, invalidResponse.reason(), millis);
        if (result instanceof SendResult.Response response) {
            Verdict verdict = verdict(target, response.status());
            Duration pause = verdict == Verdict.SLOW_DOWN
                    ? retryAfter(response.headers(), now, maxPause).orElse(null)
                    : null;
            boolean success = verdict == Verdict.DELIVERED || verdict == Verdict.ACCEPTED;
            String note = success ? "" : "status " + response.status();
            return new Delivery(
                    verdict, response.status(), response.headers(), response.body(), note, millis, pause, null);
        }
        throw new AssertionError("unknown send result " + result.getClass().getSimpleName());
    }

    private static Delivery withoutResponse(Verdict verdict, String note, long millis) {
        return new Delivery(verdict, 0, Map.of(), "", note, millis, null, null);
    }

    static Verdict verdict(WebhookTarget target, int status) {
        if (status == 202 && target.callback() != null) return Verdict.ACCEPTED;
        if (target.isSuccess(status)) return Verdict.DELIVERED;
        if (status == 410) return Verdict.GONE;
        return SLOW_DOWN_STATUSES.contains(status) ? Verdict.SLOW_DOWN : Verdict.FAILED;
    }

    /**
     * Returns the pause of the {@code Retry-After} header, which is a number of seconds or a date. A date is compared
     * with the receiver's {@code Date} header if present, otherwise with {@code now}. Empty if the header is unreadable
     * or in the past.
     */
    static Optional<Duration> retryAfter(Map<String, String> headers, Instant now, Duration maxPause) {
        String text = headers.getOrDefault("retry-after", "").strip();
        Optional<Duration> asked = text.matches("[0-9]{1,18}")
                ? Optional.of(Duration.ofSeconds(Long.parseLong(text)))
                : date(text)
                        .map(until -> Duration.between(
                                date(headers.getOrDefault("date", "")).orElse(now), until));
        return asked.filter(pause -> !pause.isNegative() && !pause.isZero())
                .map(pause -> pause.compareTo(maxPause) > 0 ? maxPause : pause);
    }

    private static Optional<Instant> date(String text) {
        try {
            return Optional.of(ZonedDateTime.parse(text, HTTP_DATE).toInstant());
        } catch (DateTimeParseException unreadable) {
            return Optional.empty();
        }
    }

    /** Returns the outcome of the handler for a delivery. */
    static Outcome outcome(WebhookTarget target, Delivery delivery, CallbackToken callbackToken) {
        Duration pause = delivery.pause();
        return switch (delivery.verdict()) {
            case DELIVERED -> Outcome.succeeded(null);
            case ACCEPTED -> Outcome.awaitingCallback(requireNonNull(target.callback()), callbackToken);
            case GONE -> Outcome.rejected("the receiver answered 410 (gone)");
            case HELD_BACK -> Outcome.snoozed(pause == null ? Duration.ofSeconds(1) : pause);
            case SLOW_DOWN ->
                pause == null
                        ? Outcome.failed(new DeliveryFailure(delivery.note()))
                        : new Outcome.RetryAfter(pause, delivery.note() + ", retry after " + pause);
            case FAILED, UNREACHABLE, TIMED_OUT, NOT_SENDABLE -> Outcome.failed(new DeliveryFailure(delivery.note()));
        };
    }

    /** A failure of the receiver. It has no stack trace, because the place in Carillon's code does not matter. */
    @SuppressWarnings("OverrideThrowableToString") // users read the stored text; the class name would not help them
    static final class DeliveryFailure extends Exception {
        private static final long serialVersionUID = 1L;

        DeliveryFailure(String note) {
            super(note, null, false, false);
        }

        @Override
        public String toString() {
            return String.valueOf(getMessage());
        }
    }
}
