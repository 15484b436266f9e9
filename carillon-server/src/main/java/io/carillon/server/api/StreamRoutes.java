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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * What happens in a project, as server-sent events: looked up every second for all who listen, so that it does not matter which node a run ended on. An event
 * is a hint to look; who was away looks for itself.
 */
final class StreamRoutes {
    /** Each of them holds a thread. */
    private static final int LISTENERS = 40;

    private static final long EVERY_MILLIS = 1_000;

    /** More happened than could be told: whoever shows lists reads them anew. */
    private static final byte[] LOST = "event: events.lost\ndata: {}\n\n".getBytes(StandardCharsets.UTF_8);

    private static final Duration LONGEST = Duration.ofMinutes(10);

    private final Deeds deeds;
    private final FeedRepository happenings = new FeedRepository();
    private final Map<String, Shared> feeds = new ConcurrentHashMap<>();
    private final Semaphore places = new Semaphore(LISTENERS);

    StreamRoutes(Deeds deeds) {
        this.deeds = deeds;
    }

    List<Route> routes() {
        return List.of(Route.get("/v1/stream", Permission.READ, this::stream));
    }

    /** A project's feed, as long as anybody listens to it. */
    private record Shared(Feed feed, int listeners) {}

    private Answer stream(Call call) {
        Instant now = deeds.read(call, desk -> happenings.now(desk.connection()));
        return Answer.stream("text/event-stream", out -> {
            if (!places.tryAcquire()) {
                out.write("retry: 30000\n\n".getBytes(StandardCharsets.UTF_8));
                return;
            }
            String project = call.caller().project();
            Feed feed = Objects.requireNonNull(feeds.merge(
                            project,
                            new Shared(new Feed(now), 1),
                            (there, mine) -> new Shared(there.feed(), there.listeners() + 1)))
                    .feed();
            try {
                tell(call, feed, out);
            } catch (RuntimeException ended) {
                throw new IOException(ended);
            } finally {
                places.release();
                feeds.computeIfPresent(
                        project,
                        (name, there) ->
                                there.listeners() == 1 ? null : new Shared(there.feed(), there.listeners() - 1));
            }
        });
    }

    private void tell(Call call, Feed feed, OutputStream out) throws IOException {
        Feed.Source source = source(call);
        long told = feed.last();
        long end = System.nanoTime() + LONGEST.toNanos();
        out.write("retry: 2000\n\n".getBytes(StandardCharsets.UTF_8));
        out.flush();
        while (System.nanoTime() < end) {
            Feed.Told news = feed.after(told, source);
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            if (news.lost()) text.writeBytes(LOST);
            for (Feed.News one : news.news()) text.writeBytes(event(one.happening()));
            told = news.last();
            // A comment shows whether anybody is still there.
            if (text.size() == 0) text.writeBytes(":\n\n".getBytes(StandardCharsets.UTF_8));
            out.write(text.toByteArray());
            out.flush();
            if (!pause()) return;
        }
    }

    private Feed.Source source(Call call) {
        return new Feed.Source() {
            @Override
            public Instant now() {
                return deeds.read(call, desk -> happenings.now(desk.connection()));
            }

            @Override
            public List<FeedRepository.Happening> behind(FeedRepository.Place place) {
                return deeds.read(
                        call,
                        desk -> happenings.behind(
                                desk.connection(), desk.project().name(), place));
            }
        };
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
