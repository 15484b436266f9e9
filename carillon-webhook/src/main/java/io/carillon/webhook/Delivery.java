package io.carillon.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.CarillonException;
import io.carillon.internal.json.JsonCodec;
import io.carillon.internal.value.TextCleaner;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The result of one delivery: the verdict and the kept part of the response (a few headers without secrets, and 4 KiB
 * of the body). It is stored with the run and with each of its attempts; {@link #parse} reads it.
 *
 * @param status the status code; 0 if there was no response
 * @param note what went wrong; empty if nothing did
 * @param pause the time to wait before the next attempt; null if the retry rule decides
 * @param url the called URL without its query; null if it was not determined
 */
public record Delivery(
        Verdict verdict,
        int status,
        Map<String, String> headers,
        String body,
        String note,
        long millis,
        @Nullable Duration pause,
        @Nullable String url) {
    private static final String LOG_PREFIX = "webhook ";

    public Delivery {
        // Other JSON, such as a line of the log of a handler, is not a delivery.
        Objects.requireNonNull(verdict, "verdict");
        headers = headers == null ? Map.of() : Map.copyOf(headers);
        body = body == null ? "" : body;
        note = note == null ? "" : note;
    }

    /** Returns the result of a request that was not sent. */
    static Delivery unsent(Verdict verdict, String note, @Nullable Duration pause) {
        return new Delivery(verdict, 0, Map.of(), "", note, 0, pause, null);
    }

    /**
     * Returns the text to store, at most {@link TextCleaner#MAX_LENGTH} characters long; the body is
     * shortened if necessary.
     */
    String toText() {
        Delivery shorter = this;
        String text = new String(json().encode(shorter), UTF_8);
        while (text.length() > TextCleaner.MAX_LENGTH && !shorter.body.isEmpty()) {
            shorter = shorter.withBody(TextCleaner.clean(shorter.body, shorter.body.length() / 2 + 1));
            if (shorter.body.length() < 16) shorter = shorter.withBody("");
            text = new String(json().encode(shorter), UTF_8);
        }
        return text;
    }

    /**
     * Returns whether the host was called and works, for breakers: it accepted or rejected the message. A message that
     * it rejects with 4xx says nothing about other messages.
     */
    boolean hostWorks() {
        return switch (verdict) {
            case DELIVERED, ACCEPTED, GONE -> true;
            case FAILED -> status > 0 && status < 500;
            case SLOW_DOWN, UNREACHABLE, TIMED_OUT, HELD_BACK, NOT_SENDABLE -> false;
        };
    }

    /** Not a constant: a missing library would make this class unusable instead of being reported. */
    private static JsonCodec json() {
        return new JsonCodec();
    }

    private Delivery withBody(String kept) {
        return new Delivery(verdict, status, headers, kept, note, millis, pause, url);
    }

    Delivery withPause(Duration longer) {
        return new Delivery(verdict, status, headers, body, note, millis, longer, url);
    }

    Delivery withUrl(String called) {
        return new Delivery(verdict, status, headers, body, note, millis, pause, called);
    }

    /**
     * Reads the delivery of a run or attempt from its {@code delivery}. Earlier versions stored it in a line of the
     * {@code log}. Empty if the text contains no delivery.
     */
    public static Optional<Delivery> parse(@Nullable String text) {
        if (text == null) return Optional.empty();
        if (text.startsWith("{")) return read(text);
        return text.lines()
                .filter(line -> line.startsWith(LOG_PREFIX))
                .reduce((earlier, later) -> later)
                .flatMap(line -> read(line.substring(LOG_PREFIX.length())));
    }

    private static Optional<Delivery> read(String text) {
        try {
            return Optional.of(json().decode(text.getBytes(UTF_8), Delivery.class));
        } catch (CarillonException other) {
            // Handlers may write any text to the log.
            return Optional.empty();
        }
    }
}
