package io.carillon.bench.http;

import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.Threads;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sends one request repeatedly over connections that stay open, with one request at a time per connection. The request
 * is encoded once, and a response is read only as far as needed to find its end: client and server share the CPU cores,
 * and the server is measured.
 */
public final class HttpLoadGenerator {
    private static final Pattern LENGTH = Pattern.compile("(?i)\\r\\nContent-Length: *([0-9]+)\\r\\n");
    private static final String CREATED = "HTTP/1.1 201";
    private static final int MAX_HEAD_BYTES = 8_192;

    private final int port;
    private final byte[] request;

    /** Creates a generator for a server on the loopback address. */
    public HttpLoadGenerator(int port, byte[] request) {
        this.port = port;
        this.request = request.clone();
    }

    /** The requests per second, their number, and the duration of each. */
    public record LoadResult(double perSecond, long requests, Samples millis) {}

    /** Returns the bytes of a POST request with JSON. */
    public static byte[] post(String path, Map<String, String> headers, String json) {
        StringBuilder head = new StringBuilder("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n");
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        head.append("Content-Type: application/json\r\nContent-Length: %d\r\n\r\n".formatted(body.length));
        return (head + json).getBytes(StandardCharsets.UTF_8);
    }

    /** Sends requests for the given time. */
    public LoadResult run(int connections, Duration time) {
        List<List<Long>> took = Threads.runConcurrently(connections, () -> send(time));
        List<Long> all = took.stream().flatMap(List::stream).toList();
        double[] millis = all.stream().mapToDouble(nanos -> nanos / 1e6).toArray();
        return new LoadResult(all.size() / (time.toNanos() / 1e9), all.size(), Samples.of(millis));
    }

    private List<Long> send(Duration time) throws IOException {
        List<Long> took = new ArrayList<>();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(30_000);
            OutputStream out = socket.getOutputStream();
            InputStream in = socket.getInputStream();
            byte[] answer = new byte[MAX_HEAD_BYTES];
            long start = System.nanoTime();
            for (long sent = start; sent - start < time.toNanos(); ) {
                out.write(request);
                read(in, answer);
                long now = System.nanoTime();
                took.add(now - sent);
                sent = now;
            }
        }
        return took;
    }

    private static void read(InputStream in, byte[] answer) throws IOException {
        int read = 0;
        String head = "";
        int end = -1;
        while (end < 0) {
            int more = in.read(answer, read, answer.length - read);
            if (more <= 0)
                throw new MeasureException("The server closed the connection before the end of a response: " + head);
            read += more;
            head = new String(answer, 0, read, StandardCharsets.ISO_8859_1);
            end = head.indexOf("\r\n\r\n");
        }
        if (!head.startsWith(CREATED))
            throw new MeasureException("The server did not answer a request with 201: " + head);
        long missing = end + 4L + length(head) - read;
        if (missing > 0) in.skipNBytes(missing);
    }

    private static long length(String head) {
        Matcher found = LENGTH.matcher(head);
        if (!found.find()) throw new MeasureException("The response has no Content-Length: " + head);
        return Long.parseLong(found.group(1));
    }
}
