package io.carillon.server.stream;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import io.carillon.server.RestTestServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What many open event streams cost the server. */
@Tag("slow")
class StreamLoadTest {
    private static final int PROJECTS = 20;
    private static final int STREAMS_PER_PROJECT = 10;
    private static final Duration MEASURED = Duration.ofSeconds(20);

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    /** The clients are part of the measured process, so the server costs less than this. */
    @Test
    void two_hundred_streams_with_an_event_per_second_in_each_project_cost_less_than_a_tenth_of_a_core()
            throws Exception {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < PROJECTS; i++) keys.add(SERVER.createProject("load-" + i));
        SERVER.createPartitionsOfToday();
        try (Selector selector = Selector.open()) {
            for (String key : keys) for (int i = 0; i < STREAMS_PER_PROJECT; i++) open(selector, key);
            drain(selector, Duration.ofSeconds(5), false);
            long before = cpuNanos();
            long start = System.nanoTime();
            long received = drain(selector, MEASURED, true);
            double share = (cpuNanos() - before) / (double) (System.nanoTime() - start);

            System.out.printf(
                    "CPU of server and clients: %.3f cores for %d streams, %d bytes received%n",
                    share, PROJECTS * STREAMS_PER_PROJECT, received);
            assertThat(received).isGreaterThan(PROJECTS * STREAMS_PER_PROJECT * MEASURED.toSeconds() * 50);
            assertThat(share).isLessThan(0.1);
        }
    }

    private static void open(Selector selector, String key) throws IOException {
        SocketChannel channel = SocketChannel.open(new InetSocketAddress(
                InetAddress.getLoopbackAddress(), SERVER.server().port()));
        String request = "GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key + "\r\n\r\n";
        channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ);
    }

    /** Reads everything that arrives, and lets a run end in each project once a second. */
    private static long drain(Selector selector, Duration length, boolean events) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(64 * 1024);
        long received = 0;
        long end = System.nanoTime() + length.toNanos();
        long nextEvent = System.nanoTime();
        while (System.nanoTime() < end) {
            if (events && System.nanoTime() >= nextEvent) {
                nextEvent += Duration.ofSeconds(1).toNanos();
                endRuns();
            }
            selector.select(100);
            for (SelectionKey ready : selector.selectedKeys()) {
                buffer.clear();
                int read = ((SocketChannel) ready.channel()).read(buffer);
                assertThat(read).as("an open stream").isNotNegative();
                received += read;
            }
            selector.selectedKeys().clear();
        }
        return received;
    }

    private static void endRuns() {
        SERVER.database().execute("""
                INSERT INTO carillon.run_history (project, id, day, queue, priority, node_deaths, crashes, attempt,
                  failures, due_at, ended_at, created_at, state, origin, target, target_name)
                SELECT 'load-' || i, gen_random_uuid(), (carillon.clock() AT TIME ZONE 'UTC')::date, 'q', 1, 0, 0, 1, 0,
                       carillon.clock(), carillon.clock(), carillon.clock(), 'succeeded', 'direct', 'handler', 'h'
                  FROM generate_series(0, 19) i
                """);
    }

    private static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
