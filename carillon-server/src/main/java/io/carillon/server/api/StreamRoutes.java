package io.carillon.server.api;

import io.carillon.run.RunId;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Json;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import io.carillon.server.store.FeedRepository;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Semaphore;

/**
 * What happens in a project, as server-sent events: looked up every second by whoever listens, so that it does not matter which node a run ended on. An event
 * is a hint to look; who was away looks for itself.
 */
final class StreamRoutes {
    /** Each of them holds a thread. */
    private static final int LISTENERS = 40;

    private static final long EVERY_MILLIS = 1_000;
    private static final Duration LONGEST = Duration.ofMinutes(10);
    /** Commits become visible a moment after the time they carry. */
    private static final Duration OVERLAP = Duration.ofSeconds(5);

    private final Deeds deeds;
    private final FeedRepository feed = new FeedRepository();
    private final Semaphore places = new Semaphore(LISTENERS);

    StreamRoutes(Deeds deeds) {
        this.deeds = deeds;
    }

    List<Route> routes() {
        return List.of(Route.get("/v1/stream", Permission.READ, this::stream));
    }

    private Answer stream(Call call) {
        Instant now = deeds.read(call, desk -> feed.now(desk.connection()));
        return Answer.stream("text/event-stream", out -> {
            if (!places.tryAcquire()) {
                out.write("retry: 30000\n\n".getBytes(StandardCharsets.UTF_8));
                return;
            }
            try {
                tell(call, now, out);
            } catch (RuntimeException ended) {
                throw new IOException(ended);
            } finally {
                places.release();
            }
        });
    }

    private void tell(Call call, Instant from, OutputStream out) throws IOException {
        Instant since = from;
        Map<UUID, Instant> told = new HashMap<>();
        long end = System.nanoTime() + LONGEST.toNanos();
        out.write("retry: 2000\n\n".getBytes(StandardCharsets.UTF_8));
        out.flush();
        while (System.nanoTime() < end) {
            Instant looked = since;
            List<FeedRepository.Happening> news = deeds.read(
                    call, desk -> feed.since(desk.connection(), desk.project().name(), looked));
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            for (FeedRepository.Happening one : news)
                if (told.put(one.id(), one.at()) == null) text.writeBytes(event(one));
            // A comment shows whether anybody is still there.
            if (text.size() == 0) text.writeBytes(":\n\n".getBytes(StandardCharsets.UTF_8));
            out.write(text.toByteArray());
            out.flush();
            if (!news.isEmpty()) {
                Instant last = news.get(news.size() - 1).at().minus(OVERLAP);
                if (last.isAfter(since)) since = last;
            }
            Instant oldest = since;
            told.values().removeIf(at -> at.isBefore(oldest));
            if (!pause()) return;
        }
    }

    private static boolean pause() {
        try {
            Thread.sleep(EVERY_MILLIS);
            return true;
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static byte[] event(FeedRepository.Happening one) {
        boolean run = one.what().equals("run.ended");
        Doc data = new Doc()
                .put("at", one.at())
                .put("run", run ? new RunId(one.id()).toString() : null)
                .put("state", one.state())
                .put("queue", one.queue())
                .put(run ? "name" : "object", one.name());
        return ("event: " + one.what() + "\ndata: " + Json.text(data) + "\n\n").getBytes(StandardCharsets.UTF_8);
    }
}
