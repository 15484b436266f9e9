package io.carillon.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.json.JsonCodec;
import io.carillon.value.CarillonException;
import io.carillon.value.Text;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What became of one delivery: the verdict, and as much of the response as is kept (few headers without secrets, 4 KiB of the body). It is kept with the
 * run and with each of its attempts, from where {@link #in} reads it back.
 *
 * @param status the status code; 0: there was no answer
 * @param note what went wrong; empty: nothing
 * @param pause how long to wait before the next attempt; null: the retry rule says
 */
public record Delivery(
        Verdict verdict,
        int status,
        Map<String, String> headers,
        String body,
        String note,
        long millis,
        @Nullable Duration pause) {
    private static final String MARK = "webhook ";
    private static final JsonCodec JSON = new JsonCodec();

    public Delivery {
        headers = headers == null ? Map.of() : Map.copyOf(headers);
        body = body == null ? "" : body;
        note = note == null ? "" : note;
    }

    /** Not sent at all. */
    static Delivery unsent(Verdict verdict, String note, @Nullable Duration pause) {
        return new Delivery(verdict, 0, Map.of(), "", note, 0, pause);
    }

    /** The text that is kept, never longer than is kept: then less of the body is. */
    String text() {
        Delivery shorter = this;
        String text = new String(JSON.encode(shorter), UTF_8);
        while (text.length() > Text.LIMIT && !shorter.body.isEmpty()) {
            shorter = shorter.withBody(Text.clean(shorter.body, shorter.body.length() / 2 + 1));
            if (shorter.body.length() < 16) shorter = shorter.withBody("");
            text = new String(JSON.encode(shorter), UTF_8);
        }
        return text;
    }

    private Delivery withBody(String kept) {
        return new Delivery(verdict, status, headers, kept, note, millis, pause);
    }

    /**
     * The delivery that a run or one of its attempts tells of: in its {@code delivery}, or, if it ended before there was one, in a line of its {@code log};
     * empty: none was made.
     */
    public static Optional<Delivery> in(@Nullable String kept) {
        if (kept == null) return Optional.empty();
        if (kept.startsWith("{")) return read(kept);
        return kept.lines()
                .filter(line -> line.startsWith(MARK))
                .reduce((earlier, later) -> later)
                .flatMap(line -> read(line.substring(MARK.length())));
    }

    private static Optional<Delivery> read(String text) {
        try {
            return Optional.of(JSON.decode(text.getBytes(UTF_8), Delivery.class));
        } catch (CarillonException other) {
            // A text that others may write to as well.
            return Optional.empty();
        }
    }
}
