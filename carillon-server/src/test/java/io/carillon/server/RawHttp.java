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

/** Sends bytes as they are, which no HTTP client would: odd lines, headers, encodings and lengths. One connection for one request. */
final class RawHttp {
    private static final int PATIENCE_MILLIS = 45_000;

    private RawHttp() {}

    /** A request line, headers as they are written, and a body; no length is added. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Request(String line, List<String> headers, byte[] body) {
        byte[] bytes() {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            StringBuilder head = new StringBuilder(line).append("\r\n");
            headers.forEach(header -> head.append(header).append("\r\n"));
            // One char is one byte: whoever wants others writes them as bytes.
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

    static Served.Reply send(int port, Request request) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            try {
                socket.getOutputStream().write(request.bytes());
                socket.getOutputStream().flush();
                socket.shutdownOutput();
            } catch (IOException refusedBeforeItWasComplete) {
                // The answer may be there already.
            }
            return read(socket.getInputStream());
        } catch (IOException broken) {
            throw new AssertionError("no answer to\n" + request, broken);
        }
    }

    /** Sends so much, and does not say that there is no more: what is the answer? */
    static Served.Reply begin(int port, Request request) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            socket.getOutputStream().write(request.bytes());
            socket.getOutputStream().flush();
            return read(socket.getInputStream());
        } catch (IOException broken) {
            throw new AssertionError("no answer to\n" + request, broken);
        }
    }

    private static Served.Reply read(InputStream in) throws IOException {
        while (true) {
            String line = line(in);
            if (line.isEmpty()) return new Served.Reply(0, Map.of(), "");
            int status = Integer.parseInt(line.split(" ", 3)[1]);
            Map<String, List<String>> headers = new LinkedHashMap<>();
            for (String header = line(in); !header.isEmpty(); header = line(in)) {
                int colon = header.indexOf(':');
                headers.computeIfAbsent(header.substring(0, colon).toLowerCase(Locale.ROOT), n -> new ArrayList<>())
                        .add(header.substring(colon + 1).strip());
            }
            if (status >= 200) return new Served.Reply(status, headers, body(in, headers));
        }
    }

    /** A stream ends with whoever listens to it; its beginning is enough. */
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
