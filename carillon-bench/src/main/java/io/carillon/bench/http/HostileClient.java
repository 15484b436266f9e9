package io.carillon.bench.http;

import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.measure.Waiting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A client that uses as much of the server as its key allows, in several ways at once: bodies that do not arrive,
 * event streams, and requests that are repeated without a pause. Its connections come from an address of its own.
 */
public final class HostileClient implements AutoCloseable {
    private static final Duration TURN = Duration.ofMillis(200);
    private static final Duration AFTER_REFUSAL = Duration.ofMillis(20);

    /** An expression with many excluded dates, which a search has to skip. */
    public static final String EXPENSIVE = "{\"cron\":\"0 0 * * 1\",\"zone\":\"America/New_York\",\"except\":[%s]}"
            .formatted(Stream.iterate(LocalDate.parse("2026-11-23"), date -> date.plusDays(7))
                    .limit(900)
                    .map(date -> "\"" + date + "\"")
                    .collect(Collectors.joining(",")));

    private static final String PREVIEW = "{\"when\":%s,\"count\":1000}".formatted(EXPENSIVE);

    private static final String BULK =
            "{\"action\":\"reschedule\",\"filter\":{\"state\":\"waiting\",\"handler\":\"bulk\"},"
                    + "\"at\":\"29%02d-01-01T00:00:00Z\"}";

    private final int port;
    private final String key;
    private final JsonCalls calls;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Map<String, AtomicInteger> answers = new TreeMap<>();
    private final List<Thread> threads = new ArrayList<>();

    public HostileClient(int port, String key) {
        this.port = port;
        this.key = key;
        this.calls = new JsonCalls(port, key);
    }

    /**
     * Starts everything.
     *
     * @param slowUrl the URL of webhooks to a host that is not resolved, with {@code %s} for a part of its name
     */
    public void attack(String slowUrl) {
        String target = "{\"target\":{\"url\":\"%s\"}}";
        keepOpen(200, "body", head("POST", "/v1/runs", "Content-Type: application/json\r\nContent-Length: 100000\r\n"));
        keepOpen(30, "stream", head("GET", "/v1/stream", ""));
        repeat(1, "slow name", i -> calls.post("/v1/runs", target.formatted(slowUrl.formatted("n" + i))));
        repeat(5, "test", i -> calls.post("/v1/webhooks/test", target.formatted(slowUrl.formatted("t" + i))));
        repeat(2, "bulk", i -> calls.post("/v1/bulk-actions", BULK.formatted(i % 90 + 10)));
        repeat(8, "preview", i -> calls.post("/v1/schedules:preview", PREVIEW));
        repeat(4, "timeline", i -> calls.get("/v1/timeline?limit=200"));
        repeat(4, "list", i -> calls.get("/v1/schedules?limit=200"));
    }

    /** Repeats a request over several connections. */
    private void repeat(int connections, String name, IntFunction<JsonCalls.Reply> request) {
        AtomicInteger number = new AtomicInteger();
        for (int i = 0; i < connections; i++)
            start(name, () -> {
                JsonCalls.Reply reply = request.apply(number.getAndIncrement());
                count(name + " " + reply.status());
                if (reply.status() >= 400) Waiting.sleep(AFTER_REFUSAL);
            });
    }

    private String head(String method, String path, String more) {
        return "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n"
                .formatted(method, path, key, more);
    }

    /** Keeps connections open. One with a body sends a byte in each turn; a closed one is replaced. */
    private void keepOpen(int connections, String name, String head) {
        boolean sends = head.startsWith("POST");
        Socket[] sockets = new Socket[connections];
        start(name, () -> {
            for (int i = 0; i < connections; i++)
                try {
                    Socket open = sockets[i];
                    if (open == null) {
                        sockets[i] = connect();
                        sockets[i].getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
                        count(name + " opened");
                    } else if (sends) {
                        open.getOutputStream().write(' ');
                        if (open.getInputStream().available() > 0) close(sockets, i);
                    }
                } catch (IOException closedByTheServer) {
                    close(sockets, i);
                }
            Waiting.sleep(TURN);
        });
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress("127.0.0.2", 0));
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return socket;
    }

    private static void close(Socket[] sockets, int index) {
        Socket socket = sockets[index];
        sockets[index] = null;
        try {
            if (socket != null) socket.close();
        } catch (IOException ended) {
            // The connection is replaced anyway.
        }
    }

    private void start(String name, Runnable turn) {
        threads.add(Threads.start("hostile-" + name, () -> {
            while (!closed.get())
                try {
                    turn.run();
                } catch (MeasureException failure) {
                    count(name + " without a response");
                }
        }));
    }

    private void count(String what) {
        synchronized (answers) {
            answers.computeIfAbsent(what, name -> new AtomicInteger()).incrementAndGet();
        }
    }

    /** Returns what the server answered, and how often. */
    public String answers() {
        synchronized (answers) {
            return answers.toString();
        }
    }

    @Override
    public void close() {
        closed.set(true);
        threads.forEach(Thread::interrupt);
        for (Thread thread : threads)
            try {
                thread.join(Duration.ofSeconds(5).toMillis());
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
    }
}
