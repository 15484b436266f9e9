package io.carillon.server.api;

import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import io.carillon.server.store.StreamEventRepository;
import io.carillon.server.stream.MissedEvents;
import io.carillon.server.stream.ProjectEventStream;
import io.carillon.server.stream.StreamActivity;
import io.carillon.server.stream.StreamFrames;
import io.carillon.server.stream.StreamPermits;
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
import org.jspecify.annotations.Nullable;

/**
 * Sends the events of a project as server-sent events. Once a second, one question for all listeners of this server
 * finds the projects that have new events, and one query for each of these projects reads them, for all its listeners.
 * An event is a hint to read the current state. A client that was disconnected continues after the last event that it
 * received.
 */
final class StreamRoutes {
    /** The objects of events that every reader may see. */
    private static final Set<String> READABLE_OBJECTS =
            Set.of("run", "schedule", "queue", "bulk", "endpoint", "event", "subscription");

    private static final byte[] START = "retry: 2000\n\n".getBytes(StandardCharsets.UTF_8);
    private static final byte[] NOTHING_NEW = ":\n\n".getBytes(StandardCharsets.UTF_8);

    /** Sent when events were lost: a client that shows lists reads them again. */
    private static final String EVENTS_LOST = "id: %s\nevent: events.lost\ndata: {}\n\n";

    /** How often a client gets the id of its position while there are no events, so that it can continue there. */
    private static final long POSITION_NANOS = Duration.ofSeconds(30).toNanos();

    /** Later, no event that the client missed can be new to the other listeners. */
    private static final long MISSED_NANOS = Duration.ofMinutes(1).toNanos();

    private static final Duration MAX_DURATION = Duration.ofMinutes(10);

    private final RequestExecutor executor;
    private final QuotaCheck quotaCheck;
    private final StreamEventRepository events = new StreamEventRepository();
    private final Map<String, SharedStream> streams = new ConcurrentHashMap<>();
    private final StreamPermits permits;
    private final StreamActivity activity;

    StreamRoutes(RequestExecutor executor, QuotaCheck quotaCheck, StreamPermits permits) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
        this.permits = permits;
        this.activity = new StreamActivity(
                streams::keySet,
                (projects, period) ->
                        StreamEventRepository.activity(executor.context().transactions(), projects, period));
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
        permits.acquire(project, start.maxStreams(), QuotaCheck::tooManyStreams);
        return Objects.requireNonNull(streams.merge(
                        project,
                        new SharedStream(new ProjectEventStream(start.now()), 1),
                        (there, mine) -> new SharedStream(there.stream(), there.listeners() + 1)))
                .stream();
    }

    private void leave(String project) {
        permits.release(project);
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
        private final long startNanos = System.nanoTime();
        private long sent;
        private long positionSentNanos = System.nanoTime() - POSITION_NANOS;
        private boolean started;
        private Optional<String> lastEventId;
        private @Nullable MissedEvents missed;

        StreamListener(ApiRequest request, ProjectEventStream stream) {
            this.caller = request.caller();
            this.stream = stream;
            this.eventSource = source(request);
            this.sent = stream.lastNumber();
            this.lastEventId = request.header("Last-Event-ID").filter(id -> !id.isBlank());
        }

        @Override
        public String project() {
            return caller.project();
        }

        @Override
        public Optional<byte[]> next() {
            if (System.nanoTime() >= endNanos) return Optional.empty();
            if (!started) {
                started = true;
                return Optional.of(START);
            }
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            lastEventId.ifPresent(id -> writeMissed(id, text));
            lastEventId = Optional.empty();
            ProjectEventStream.EventBatch news = stream.eventsAfter(sent, eventSource);
            if (news.lost()) writeLost(news.knownUntil(), text);
            StreamFrames.write(
                    news.events().stream()
                            .map(ProjectEventStream.NumberedEvent::event)
                            .filter(this::isNew)
                            .toList(),
                    text);
            sent = news.lastNumber();
            if (text.size() == 0) text.writeBytes(nothingNew(news.knownUntil()));
            return Optional.of(text.toByteArray());
        }

        private void writeMissed(String id, ByteArrayOutputStream text) {
            MissedEvents events = new MissedEvents();
            Optional<List<StreamEventRepository.StreamEvent>> found = events.after(id, eventSource);
            if (found.isEmpty()) writeLost(eventSource.now().minus(ProjectEventStream.OVERLAP), text);
            else missed = events;
            StreamFrames.write(
                    found.orElse(List.of()).stream()
                            .filter(one -> isVisible(caller, one.kind()))
                            .toList(),
                    text);
        }

        private void writeLost(Instant knownUntil, ByteArrayOutputStream text) {
            text.writeBytes(EVENTS_LOST.formatted(MissedEvents.idOf(knownUntil)).getBytes(StandardCharsets.UTF_8));
        }

        private boolean isNew(StreamEventRepository.StreamEvent one) {
            if (System.nanoTime() - startNanos > MISSED_NANOS) missed = null;
            boolean wasSent = missed != null && missed.contains(one);
            return !wasSent && isVisible(caller, one.kind());
        }

        /** Writing a comment fails if the client has closed the connection. */
        private byte[] nothingNew(Instant knownUntil) {
            long now = System.nanoTime();
            if (now - positionSentNanos < POSITION_NANOS) return NOTHING_NEW;
            positionSentNanos = now;
            return (":\nid: " + MissedEvents.idOf(knownUntil) + "\n\n").getBytes(StandardCharsets.UTF_8);
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
                return activity.now();
            }

            @Override
            public boolean mayHaveEventsAfter(Instant instant) {
                return activity.mayHaveEvents(apiRequest.caller().project(), instant);
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
}
