package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The streams of a project whose parts cannot be read use one thread, and those of another project are sent. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StreamsOfProjectsTest {
    private static final int SLOW_STREAMS = 12;
    private static final CountDownLatch RELEASED = new CountDownLatch(1);
    private static final CountDownLatch STARTED = new CountDownLatch(1);
    private static final AtomicInteger OPENED = new AtomicInteger();
    private static final AtomicInteger READING = new AtomicInteger();
    private static final AtomicInteger MOST_READING = new AtomicInteger();

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder,
            server -> server.routes(List.of(Route.get("/v1/slow-stream", Permission.READ, request -> {
                OPENED.incrementAndGet();
                return ApiResponse.stream(
                        "text/event-stream", new SlowStream(request.caller().project()));
            }))));

    /** A stream without events whose end is read when the test says so. */
    private record SlowStream(String project) implements ApiResponse.Streaming {
        @Override
        public Optional<byte[]> next() {
            MOST_READING.accumulateAndGet(READING.incrementAndGet(), Math::max);
            STARTED.countDown();
            try {
                RELEASED.await();
            } catch (InterruptedException closing) {
                Thread.currentThread().interrupt();
            }
            READING.decrementAndGet();
            return Optional.empty();
        }

        @Override
        public void close() {}
    }

    @AfterEach
    void release() {
        RELEASED.countDown();
    }

    @Test
    void a_project_whose_parts_are_read_slowly_uses_one_thread() throws Exception {
        String slow = SERVER.createProject("slow");
        String other = SERVER.createProject("other");
        List<CompletableFuture<HttpResponse<InputStream>>> slowStreams = new ArrayList<>();
        for (int i = 0; i < SLOW_STREAMS; i++) slowStreams.add(listen(slow, "/v1/slow-stream"));
        STARTED.await();
        while (OPENED.get() < SLOW_STREAMS) Thread.onSpinWait();

        HttpResponse<InputStream> stream = listen(other, "/v1/stream").get();
        try (InputStream events = stream.body()) {
            assertThat(new String(events.readNBytes(7), StandardCharsets.UTF_8)).isEqualTo("retry: ");
        }

        assertThat(MOST_READING).hasValue(1);
        RELEASED.countDown();
        for (CompletableFuture<HttpResponse<InputStream>> one : slowStreams)
            assertThat(one.get().body().read()).isEqualTo(-1);
        assertThat(MOST_READING).hasValue(1);
    }

    private static CompletableFuture<HttpResponse<InputStream>> listen(String key, String path) {
        return HttpClient.newHttpClient()
                .sendAsync(
                        HttpRequest.newBuilder(URI.create(
                                        "http://127.0.0.1:" + SERVER.server().port() + path))
                                .header("Authorization", "Bearer " + key)
                                .build(),
                        HttpResponse.BodyHandlers.ofInputStream());
    }
}
