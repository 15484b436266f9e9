package io.carillon.bench.dashboard;

import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.CarillonRestServer;
import io.carillon.bench.server.BenchDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Many open pages: each has an event stream and repeats the requests of the page Home as often as it does while runs
 * end all the time. They share two connections for requests, which is cheaper for the client and the same for the
 * server. The CPU time of the clients' threads is not counted.
 */
final class OpenPages {
    /** A request that a page repeats. */
    private record Poll(String path, Duration every) {}

    private static final List<Poll> POLLS = List.of(
            new Poll("/v1/stats?step=1m", Duration.ofSeconds(5)),
            new Poll("/v1/stats", Duration.ofSeconds(10)),
            new Poll("/v1/queues", Duration.ofSeconds(10)),
            new Poll("/v1/schedules?limit=200", Duration.ofSeconds(10)),
            new Poll("/v1/runs?state=dead&limit=8", Duration.ofSeconds(10)),
            new Poll("/v1/health", Duration.ofSeconds(10)),
            new Poll("/v1/nodes", Duration.ofSeconds(10)));

    private static final Pattern LENGTH = Pattern.compile("(?i)\\r\\nContent-Length: *([0-9]+)\\r\\n");
    private static final Duration WARM_UP = Duration.ofSeconds(10);

    private OpenPages() {}

    /** The CPU time in cores. */
    record Cost(double server, double database, double requestsPerSecond) {
        double cores() {
            return server + database;
        }
    }

    static Cost measure(BenchDatabase database, CarillonRestServer server, int pages, Duration time) throws Exception {
        AtomicLong requests = new AtomicLong();
        List<Thread> clients = new ArrayList<>();
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < pages; i++) {
                Socket socket = connect(server.port());
                sockets.add(socket);
                socket.getOutputStream().write(request("/v1/stream", server.key()));
                clients.add(start(() -> readForever(socket)));
            }
            for (Poll poll : POLLS) {
                Socket socket = connect(server.port());
                sockets.add(socket);
                clients.add(start(() -> pollForever(socket, server.key(), poll, pages, requests)));
            }
            Waiting.sleep(time.compareTo(WARM_UP) < 0 ? time : WARM_UP);
            long before = requests.get();
            long clientBefore = cpuNanos(clients);
            CpuMeter cpu = CpuMeter.start(database.serverPid());
            Waiting.sleep(time);
            CpuMeter.Used used = cpu.used();
            double clientSeconds = (cpuNanos(clients) - clientBefore) / 1e9;
            double seconds = time.toNanos() / 1e9;
            if (clients.stream().anyMatch(client -> !client.isAlive()))
                throw new MeasureException("A client of the server has lost its connection.");
            return new Cost(
                    (used.jvm() - clientSeconds) / seconds,
                    used.server() / seconds,
                    (requests.get() - before) / seconds);
        } finally {
            clients.forEach(Thread::interrupt);
            for (Socket socket : sockets) socket.close();
        }
    }

    private static long cpuNanos(List<Thread> threads) {
        return threads.stream()
                .mapToLong(thread ->
                        Math.max(0, ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId())))
                .sum();
    }

    private interface IoTask {
        void run() throws IOException, InterruptedException;
    }

    private static Thread start(IoTask task) {
        return Threads.start("bench-open-page", () -> {
            try {
                task.run();
            } catch (IOException | InterruptedException closed) {
                // The measurement ends, or notices that the thread has ended.
            }
        });
    }

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        return socket;
    }

    private static byte[] request(String path, String key) {
        return "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nCache-Control: max-age=5\r\n\r\n"
                .formatted(path, key)
                .getBytes(StandardCharsets.UTF_8);
    }

    private static void readForever(Socket socket) throws IOException {
        byte[] part = new byte[8_192];
        InputStream in = socket.getInputStream();
        while (in.read(part) >= 0) Thread.onSpinWait();
        throw new IOException("the stream ended");
    }

    /** Sends the request of all pages, evenly over its period. */
    private static void pollForever(Socket socket, String key, Poll poll, int pages, AtomicLong requests)
            throws IOException, InterruptedException {
        byte[] request = request(poll.path, key);
        long pause = poll.every.toNanos() / pages;
        long next = System.nanoTime();
        while (true) {
            socket.getOutputStream().write(request);
            skipAnswer(socket.getInputStream());
            requests.incrementAndGet();
            next += pause;
            long left = next - System.nanoTime();
            if (left > 0) Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
        }
    }

    private static void skipAnswer(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        byte[] part = new byte[2_048];
        int end = -1;
        int read = 0;
        while (end < 0) {
            int more = in.read(part);
            if (more < 0) throw new IOException("the connection ended");
            read += more;
            head.append(new String(part, 0, more, StandardCharsets.ISO_8859_1));
            end = head.indexOf("\r\n\r\n");
        }
        Matcher length = LENGTH.matcher(head);
        if (!head.toString().startsWith("HTTP/1.1 200") || !length.find())
            throw new MeasureException("The server refused a request of a page: " + head);
        long missing = end + 4L + Long.parseLong(length.group(1)) - read;
        if (missing > 0) in.skipNBytes(missing);
    }
}
