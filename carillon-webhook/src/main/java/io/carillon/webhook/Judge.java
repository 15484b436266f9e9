package io.carillon.webhook;

import static java.util.Objects.requireNonNull;

import io.carillon.run.CompletionToken;
import io.carillon.run.Outcome;
import io.carillon.webhook.send.Answer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Decides, purely, what an answer means and what follows for the run. */
final class Judge {
    private static final Set<Integer> SLOW = Set.of(429, 502, 503, 504);
    private static final DateTimeFormatter HTTP_DATE = DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ROOT);

    private Judge() {}

    /** The delivery this answer makes; a pause the receiver asks for is cut at {@code longest}. */
    static Delivery judge(WebhookTarget target, Answer answer, Instant now, Duration longest, long millis) {
        if (answer instanceof Answer.Unreachable)
            return silent(Verdict.UNREACHABLE, target.endpoint() + " could not be reached", millis);
        if (answer instanceof Answer.TimedOut)
            return silent(
                    Verdict.TIMED_OUT, "no answer within " + target.timeouts().total(), millis);
        if (answer instanceof Answer.Broken broken) return silent(Verdict.FAILED, broken.why(), millis);
        if (answer instanceof Answer.Response response) {
            Verdict verdict = verdict(target, response.status());
            Duration pause = verdict == Verdict.SLOW_DOWN
                    ? retryAfter(response.headers(), now, longest).orElse(null)
                    : null;
            boolean fine = verdict == Verdict.DELIVERED || verdict == Verdict.ACCEPTED;
            String note = fine ? "" : "status " + response.status();
            return new Delivery(verdict, response.status(), response.headers(), response.body(), note, millis, pause);
        }
        throw new AssertionError("no rule for " + answer.getClass().getSimpleName());
    }

    private static Delivery silent(Verdict verdict, String note, long millis) {
        return new Delivery(verdict, 0, Map.of(), "", note, millis, null);
    }

    static Verdict verdict(WebhookTarget target, int status) {
        if (status == 202 && target.callback() != null) return Verdict.ACCEPTED;
        if (target.succeeds(status)) return Verdict.DELIVERED;
        if (status == 410) return Verdict.GONE;
        return SLOW.contains(status) ? Verdict.SLOW_DOWN : Verdict.FAILED;
    }

    /** Seconds or a date, which counts from the receiver's own clock where it tells it. What is past or unreadable asks for nothing. */
    static Optional<Duration> retryAfter(Map<String, String> headers, Instant now, Duration longest) {
        String text = headers.getOrDefault("retry-after", "").strip();
        Optional<Duration> asked = text.matches("[0-9]{1,18}")
                ? Optional.of(Duration.ofSeconds(Long.parseLong(text)))
                : date(text)
                        .map(until -> Duration.between(
                                date(headers.getOrDefault("date", "")).orElse(now), until));
        return asked.filter(pause -> !pause.isNegative() && !pause.isZero())
                .map(pause -> pause.compareTo(longest) > 0 ? longest : pause);
    }

    private static Optional<Instant> date(String text) {
        try {
            return Optional.of(ZonedDateTime.parse(text, HTTP_DATE).toInstant());
        } catch (DateTimeParseException unreadable) {
            return Optional.empty();
        }
    }

    /** What the handler says of its run. */
    static Outcome outcome(WebhookTarget target, Delivery delivery, CompletionToken token) {
        Duration pause = delivery.pause();
        return switch (delivery.verdict()) {
            case DELIVERED -> Outcome.succeeded(null);
            case ACCEPTED -> Outcome.awaiting(requireNonNull(target.callback()), token);
            case GONE -> Outcome.rejected("the receiver wants no more of it: status 410");
            case HELD_BACK -> Outcome.snoozed(pause == null ? Duration.ofSeconds(1) : pause);
            case SLOW_DOWN ->
                pause == null
                        ? Outcome.failed(new DeliveryFailure(delivery.note()))
                        : new Outcome.RetryAfter(pause, delivery.note() + ", asked to wait " + pause);
            case FAILED, UNREACHABLE, TIMED_OUT, NOT_SENDABLE -> Outcome.failed(new DeliveryFailure(delivery.note()));
        };
    }

    /** A failure of the other side: where in our code it was noticed tells nobody anything. */
    @SuppressWarnings("OverrideThrowableToString") // it is stored for people, who are not helped by our class's name
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
