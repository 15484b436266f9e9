package io.carillon.server.api;

import io.carillon.run.RunId;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.StreamEventRepository;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Sends the events of a project as server-sent events. One query per second serves all listeners and finds the events
 * of all nodes. An event is a hint to read the current state; a client that was disconnected reads the state itself.
 */
final class StreamRoutes {
    private static final int MAX_LISTENERS = 400;

    /** The objects of events that every reader may see. */
    private static final Set<String> READABLE_OBJECTS = Set.of("run", "schedule", "queue", "bulk", "endpoint");

    private static final byte[] START = "retry: 2000\n\n".getBytes(StandardCharsets.UTF_8);
    private static final byte[] NOTHING_NEW = ":\n\n".getBytes(StandardCharsets.UTF_8);

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

    private record StreamStart(Instant now, @Nullable Integer maxStreams) {}

    private ApiResponse stream(ApiRequest request) {
        String project = request.caller().project();
        StreamStart start = executor.read(
                request,
                transaction -> new StreamStart(events.now(transaction.session()), quotaCheck.maxStreams(transaction)));
        return ApiResponse.stream("text/event-stream", new StreamListener(request, join(project, start)));
    }

    private ProjectEventStream join(String project, StreamStart start) {
        if (!listenerPermits.tryAcquire())
            throw Problem.of(
                            503, "unavailable", "This server has its maximum number of event streams. Try again later.")
                    .withHeader("Retry-After", "30");
        SharedStream shared = Objects.requireNonNull(streams.merge(
                project,
                new SharedStream(new ProjectEventStream(start.now()), 1),
                (there, mine) -> new SharedStream(there.stream(), there.listeners() + 1)));
        Integer most = start.maxStreams();
        if (most == null || shared.listeners() <= most) return shared.stream();
        leave(project);
        throw QuotaCheck.tooManyStreams(most);
    }

    private void leave(String project) {
        listenerPermits.release();
        streams.computeIfPresent(
                project,
                (name, there) ->
                        there.listeners() == 1 ? null : new SharedStream(there.stream(), there.listeners() - 1));
    }

    /** Sends the events of a project to one client. */
    private final class StreamListener implements ApiResponse.Streaming {
        private final Caller caller;
        private final ProjectEventStream stream;
        private final ProjectEventStream.EventSource eventSource;
        private final long endNanos = System.nanoTime() + MAX_DURATION.toNanos();
        private long sent;
        private boolean started;

        StreamListener(ApiRequest request, ProjectEventStream stream) {
            this.caller = request.caller();
            this.stream = stream;
            this.eventSource = source(request);
            this.sent = stream.lastNumber();
        }

        @Override
        public Optional<byte[]> next() {
            if (System.nanoTime() >= endNanos) return Optional.empty();
            if (!started) {
                started = true;
                return Optional.of(START);
            }
            ProjectEventStream.EventBatch news = stream.eventsAfter(sent, eventSource);
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            if (news.lost()) text.writeBytes(EVENTS_LOST);
            for (ProjectEventStream.NumberedEvent one : news.events())
                if (isVisible(caller, one.event().kind())) text.writeBytes(event(one.event()));
            sent = news.lastNumber();
            // Writing a comment fails if the client has closed the connection.
            if (text.size() == 0) text.writeBytes(NOTHING_NEW);
            return Optional.of(text.toByteArray());
        }

        @Override
        public void close() {
            leave(caller.project());
        }
    }

    /**
     * Returns whether a caller may see events of this kind. Changes of objects that every reader can list are visible
     * to every reader; all others, such as changes of keys, to admins, who can read the audit log.
     */
    private static boolean isVisible(Caller caller, String kind) {
        String object = kind.substring(0, Math.max(0, kind.indexOf('.')));
        return READABLE_OBJECTS.contains(object) || caller.hasPermission(Permission.ADMIN);
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
