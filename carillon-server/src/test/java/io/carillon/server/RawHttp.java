package io.carillon.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Sends raw bytes that no HTTP client would send: malformed lines, headers, encodings and lengths. Uses one connection
 * per request.
 */
public final class RawHttp {
    private static final int TIMEOUT_MILLIS = 45_000;

    private RawHttp() {}

    /** A request line, headers and a body, sent unchanged; no Content-Length is added. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Request(String line, List<String> headers, byte[] body) {
        byte[] bytes() {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            StringBuilder head = new StringBuilder(line).append("\r\n");
            headers.forEach(header -> head.append(header).append("\r\n"));
            // Writes each char as one byte; for other encodings, put the bytes into the body.
            out.writeBytes(head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
            out.writeBytes(body);
            return out.toByteArray();
        }

        @Override
        public String toString() {
            String text = new String(bytes(), StandardCharsets.ISO_8859_1);
            return text.length() > 3_000 ? text.substring(0, 3_000) + "… (" + text.length() + " bytes)" : text;
        }
    }

    public static RestTestServer.Reply send(int port, Request request) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            try {
                socket.getOutputStream().write(request.bytes());
                socket.getOutputStream().flush();
                socket.shutdownOutput();
            } catch (IOException refusedBeforeItWasComplete) {
                // The server may have sent its response and closed the connection.
            }
            return read(socket.getInputStream());
        } catch (IOException broken) {
            throw new AssertionError("no answer to\n" + request, broken);
        }
    }

    /** Sends a request without closing the output, so that the server waits for more, and returns its response. */
    public static RestTestServer.Reply sendIncomplete(int port, Request request) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.getOutputStream().write(request.bytes());
            socket.getOutputStream().flush();
            return read(socket.getInputStream());
        } catch (IOException broken) {
            throw new AssertionError("no answer to\n" + request, broken);
        }
    }

    private static RestTestServer.Reply read(InputStream in) throws IOException {
        while (true) {
            String line = line(in);
            if (line.isEmpty()) return new RestTestServer.Reply(0, Map.of(), "");
            int status = Integer.parseInt(line.split(" ", 3)[1]);
            Map<String, List<String>> headers = new LinkedHashMap<>();
            for (String header = line(in); !header.isEmpty(); header = line(in)) {
                int colon = header.indexOf(':');
                headers.computeIfAbsent(header.substring(0, colon).toLowerCase(Locale.ROOT), n -> new ArrayList<>())
                        .add(header.substring(colon + 1).strip());
            }
            if (status >= 200) return new RestTestServer.Reply(status, headers, body(in, headers));
        }
    }

    /** Reads a body. An event stream ends only when the client disconnects, so its body is not read. */
    private static String body(InputStream in, Map<String, List<String>> headers) throws IOException {
        String type = String.join("", headers.getOrDefault("content-type", List.of()));
        if (type.startsWith("text/event-stream")) return "";
        List<String> length = headers.get("content-length");
        byte[] body = length == null ? in.readAllBytes() : in.readNBytes(Integer.parseInt(length.get(0)));
        return new String(body, StandardCharsets.UTF_8);
    }

    private static String line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) if (next != '\r') line.write(next);
        return line.toString(StandardCharsets.ISO_8859_1);
    }
}
