package io.carillon.server.api.event;

import io.carillon.event.Event;
import io.carillon.event.Events;
import io.carillon.run.Payload;
import io.carillon.server.access.Cursors;
import io.carillon.server.api.QuotaCheck;
import io.carillon.server.api.RequestExecutor;
import io.carillon.server.event.EventJson;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Json;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import io.carillon.server.stream.StreamPermits;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sends the events of a topic as server-sent events, in the order of all consumers. The id of each message is the
 * position of its event, so a client that was disconnected continues without a gap, on any server.
 */
final class EventTailRoute {
    private static final byte[] START = "retry: 2000\n\n".getBytes(StandardCharsets.UTF_8);

    /** How often a client gets its position while there are no events, so that it can continue there. */
    private static final long POSITION_NANOS = Duration.ofSeconds(30).toNanos();

    private static final Duration MAX_DURATION = Duration.ofMinutes(10);

    /** The most events that one client gets in one step, about a second. */
    private static final int MAX_EVENTS_PER_STEP = 200;

    /** A step ends with the event that exceeds this: a client that reads slowly keeps the text in memory. */
    private static final int MAX_BYTES_PER_STEP = 256 * 1024;

    private final RequestExecutor executor;
    private final QuotaCheck quotaCheck;
    private final StreamPermits permits;

    EventTailRoute(RequestExecutor executor, QuotaCheck quotaCheck, StreamPermits permits) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
        this.permits = permits;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/events:tail", Permission.READ, this::tail).withQuery("topic", "type", "key", "after"));
    }

    private record Start(String position, @Nullable Integer maxStreams) {}

    private ApiResponse tail(ApiRequest request) {
        EventFilterParser filter = EventFilterParser.of(request);
        Cursors cursors = executor.context().cursors();
        Optional<String> last = request.header("Last-Event-ID")
                .filter(id -> !id.isBlank())
                .map(id -> cursors.openEventPosition(request, id))
                .or(() -> filter.after(cursors));
        Start start = executor.read(
                request,
                transaction -> new Start(
                        last.orElseGet(() -> transaction.project().events().end()),
                        quotaCheck.maxStreams(transaction)));
        permits.acquire(request.caller().project(), start.maxStreams(), QuotaCheck::tooManyStreams);
        return ApiResponse.stream("text/event-stream", new Tail(filter, start.position()));
    }

    /** Sends the events behind a position to one client. */
    private final class Tail implements ApiResponse.Streaming {
        private final EventFilterParser filter;
        private final long endNanos = System.nanoTime() + MAX_DURATION.toNanos();
        private String position;
        private long positionSentNanos = System.nanoTime() - POSITION_NANOS;
        private boolean started;

        Tail(EventFilterParser filter, String position) {
            this.filter = filter;
            this.position = position;
        }

        @Override
        public String project() {
            return filter.request().caller().project();
        }

        @Override
        public Optional<byte[]> next() {
            if (System.nanoTime() >= endNanos) return Optional.empty();
            if (!started) {
                started = true;
                return Optional.of(START);
            }
            Events.Page page = executor.read(
                    filter.request(),
                    transaction -> transaction.project().events().list(filter.filter(), position, MAX_EVENTS_PER_STEP));
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            int sent = 0;
            while (sent < page.events().size() && text.size() < MAX_BYTES_PER_STEP) {
                write(page.events().get(sent), page.positions().get(sent), text);
                sent++;
            }
            position = sent < page.events().size() ? page.positions().get(sent - 1) : page.next();
            if (text.size() == 0) writePosition(text);
            return Optional.of(text.toByteArray());
        }

        private void write(Event<Payload> event, String at, ByteArrayOutputStream text) {
            text.writeBytes("id: %s\nevent: published\ndata: %s\n\n"
                    .formatted(sealed(at), Json.text(EventJson.toJson(event)))
                    .getBytes(StandardCharsets.UTF_8));
        }

        /** Writing a comment fails if the client has closed the connection. */
        private void writePosition(ByteArrayOutputStream text) {
            long now = System.nanoTime();
            boolean due = now - positionSentNanos >= POSITION_NANOS;
            if (due) positionSentNanos = now;
            text.writeBytes((due ? ":\nid: " + sealed(position) + "\n\n" : ":\n\n").getBytes(StandardCharsets.UTF_8));
        }

        private String sealed(String at) {
            return executor.context().cursors().eventPosition(filter.request(), at);
        }

        @Override
        public void close() {
            permits.release(project());
        }
    }
}
