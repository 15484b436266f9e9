package io.carillon.server.stream;

import io.carillon.run.RunId;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonObject;
import io.carillon.server.store.StreamEventRepository;
import io.carillon.server.store.StreamEventRepository.StreamEvent;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Events as text. A client gets at most four messages a second, however many runs end: a few events are one message
 * each, and many are sent together.
 */
public final class StreamFrames {
    /** The most messages of one second. */
    static final int MAX_FRAMES = 4;

    /** The kind of a message with several events. */
    private static final String TOGETHER = "changes";

    private static final int MIN_EVENTS_TOGETHER = 500;

    private StreamFrames() {}

    /** Writes the events of one second, in order. */
    public static void write(List<StreamEvent> events, ByteArrayOutputStream text) {
        if (events.size() <= MAX_FRAMES) {
            for (StreamEvent one : events) write(one, one.kind(), data(one), text);
            return;
        }
        int each = Math.max(MIN_EVENTS_TOGETHER, (events.size() + MAX_FRAMES - 1) / MAX_FRAMES);
        for (int from = 0; from < events.size(); from += each) {
            List<StreamEvent> some = events.subList(from, Math.min(events.size(), from + each));
            JsonObject together = new JsonObject()
                    .put(
                            "events",
                            some.stream()
                                    .map(one -> data(one).put("kind", one.kind()))
                                    .toList());
            write(some.get(some.size() - 1), TOGETHER, together, text);
        }
    }

    private static void write(StreamEvent last, String kind, JsonObject data, ByteArrayOutputStream text) {
        text.writeBytes("id: %s\nevent: %s\ndata: %s\n\n"
                .formatted(MissedEvents.idOf(last), kind, Json.text(data))
                .getBytes(StandardCharsets.UTF_8));
    }

    private static JsonObject data(StreamEvent one) {
        boolean run = one.kind().equals(StreamEventRepository.RUN_ENDED);
        return new JsonObject()
                .put("at", one.at())
                .put("run", run ? new RunId(one.id()).toString() : null)
                .put("state", one.state())
                .put("queue", one.queue())
                .put(run ? "name" : "object", one.name());
    }
}
