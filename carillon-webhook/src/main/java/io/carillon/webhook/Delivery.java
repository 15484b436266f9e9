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
 * What became of one delivery: the verdict, and as much of the response as is kept (few headers without secrets, 4 KiB of the body). It is a line of the run's
 * log, from which {@link #in} reads it back.
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

    /** One line for the run's log, never longer than a line there may be: then less of the body is kept. */
    String line() {
        Delivery shorter = this;
        String line = MARK + new String(JSON.encode(shorter), UTF_8);
        while (line.length() > Text.LIMIT && !shorter.body.isEmpty()) {
            shorter = shorter.withBody(Text.clean(shorter.body, shorter.body.length() / 2 + 1));
            if (shorter.body.length() < 16) shorter = shorter.withBody("");
            line = MARK + new String(JSON.encode(shorter), UTF_8);
        }
        return line;
    }

    private Delivery withBody(String kept) {
        return new Delivery(verdict, status, headers, kept, note, millis, pause);
    }

    /** The delivery that the log of a run or of one of its attempts tells of; empty: none was made. */
    public static Optional<Delivery> in(@Nullable String log) {
        if (log == null) return Optional.empty();
        return log.lines()
                .filter(line -> line.startsWith(MARK))
                .reduce((earlier, later) -> later)
                .flatMap(Delivery::read);
    }

    private static Optional<Delivery> read(String line) {
        try {
            return Optional.of(JSON.decode(line.substring(MARK.length()).getBytes(UTF_8), Delivery.class));
        } catch (CarillonException other) {
            // A log is text that others may write to as well.
            return Optional.empty();
        }
    }
}
