package io.carillon.server.api;

import io.carillon.run.RunId;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import io.carillon.server.store.StreamEventRepository;
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
 * Sends the events of a project as server-sent events. One query per second serves all listeners and finds the events
 * of all nodes. An event is a hint to read the current state; a client that was disconnected reads the state itself.
 */
final class StreamRoutes {
    /** Each listener occupies a thread. */
    private static final int MAX_LISTENERS = 40;

    private static final long POLL_MILLIS = 1_000;

    /** Sent when events were lost: a client that shows lists reads them again. */
    private static final byte[] EVENTS_LOST = "event: events.lost\ndata: {}\n\n".getBytes(StandardCharsets.UTF_8);

    private static final Duration MAX_DURATION = Duration.ofMinutes(10);

    private final RequestExecutor executor;
    private final QuotaCheck quotaCheck;
    private final StreamEventRepository events = new StreamEventRepository();
    private final Map<String, SharedStream> streams = new ConcurrentHashMap<>();
    private final Semaphore listenerPermits = new Semaphore(MAX_LISTENERS);

    StreamRoutes(RequestExecutor executor, QuotaCheck quotaCheck) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
    }

    List<Route> routes() {
        return List.of(Route.get("/v1/stream", Permission.READ, this::stream));
    }

    /** The stream of a project; it exists while the project has listeners. */
    private record SharedStream(ProjectEventStream stream, int listeners) {}

    private ApiResponse stream(ApiRequest request) {
        SharedStream open = streams.get(request.caller().project());
        Instant now = executor.read(request, transaction -> {
            quotaCheck.checkStreams(transaction, open == null ? 0 : open.listeners());
            return events.now(transaction.session());
        });
        return ApiResponse.stream("text/event-stream", out -> {
            if (!listenerPermits.tryAcquire()) {
                out.write("retry: 30000\n\n".getBytes(StandardCharsets.UTF_8));
                return;
            }
            String project = request.caller().project();
            ProjectEventStream stream = Objects.requireNonNull(streams.merge(
                            project,
                            new SharedStream(new ProjectEventStream(now), 1),
                            (there, mine) -> new SharedStream(there.stream(), there.listeners() + 1)))
                    .stream();
            try {
                writeEvents(request, stream, out);
            } catch (RuntimeException ended) {
                throw new IOException(ended);
            } finally {
                listenerPermits.release();
                streams.computeIfPresent(
                        project,
                        (name, there) -> there.listeners() == 1
                                ? null
                                : new SharedStream(there.stream(), there.listeners() - 1));
            }
        });
    }

    private void writeEvents(ApiRequest request, ProjectEventStream stream, OutputStream out) throws IOException {
        ProjectEventStream.EventSource eventSource = source(request);
        long sent = stream.lastNumber();
        long end = System.nanoTime() + MAX_DURATION.toNanos();
        out.write("retry: 2000\n\n".getBytes(StandardCharsets.UTF_8));
        out.flush();
        while (System.nanoTime() < end) {
            ProjectEventStream.EventBatch news = stream.eventsAfter(sent, eventSource);
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            if (news.lost()) text.writeBytes(EVENTS_LOST);
            for (ProjectEventStream.NumberedEvent one : news.events()) text.writeBytes(event(one.event()));
            sent = news.lastNumber();
            // Writing a comment fails if the client has closed the connection.
            if (text.size() == 0) text.writeBytes(":\n\n".getBytes(StandardCharsets.UTF_8));
            out.write(text.toByteArray());
            out.flush();
            if (!pause()) return;
        }
    }

    private ProjectEventStream.EventSource source(ApiRequest apiRequest) {
        return new ProjectEventStream.EventSource() {
            @Override
            public Instant now() {
                return executor.read(apiRequest, requestTransaction -> events.now(requestTransaction.session()));
            }

            @Override
            public List<StreamEventRepository.StreamEvent> eventsAfter(
                    StreamEventRepository.StreamPosition streamPosition) {
                return executor.read(
                        apiRequest,
                        requestTransaction -> events.eventsAfter(
                                requestTransaction.session(),
                                requestTransaction.project().name(),
                                streamPosition));
            }
        };
    }

    private static boolean pause() {
        try {
            Thread.sleep(POLL_MILLIS);
            return true;
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static byte[] event(StreamEventRepository.StreamEvent one) {
        boolean run = one.kind().equals(StreamEventRepository.RUN_ENDED);
        JsonObject data = new JsonObject()
                .put("at", one.at())
                .put("run", run ? new RunId(one.id()).toString() : null)
                .put("state", one.state())
                .put("queue", one.queue())
                .put(run ? "name" : "object", one.name());
        return ("event: " + one.kind() + "\ndata: " + Json.text(data) + "\n\n").getBytes(StandardCharsets.UTF_8);
    }
}
