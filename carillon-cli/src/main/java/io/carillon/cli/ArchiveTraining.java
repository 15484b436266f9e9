package io.carillon.cli;

import io.carillon.cli.shell.Shell;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Runs typical commands against a server that always gives the same answer. The script {@code ./carillon} starts it to
 * write an archive of the classes that commands load; with the archive they start in a fraction of the time.
 */
final class ArchiveTraining {
    private static final String ANSWER = """
            {"items":[{"id":"run_01m7fa4qd2e008xnc9yb7qb9av","name":"a","state":"waiting","target":{"handler":"a"},\
            "dueAt":"2026-06-01T12:00:00.5Z","late":"PT0.5S","n":1.5,"flag":true,\
            "reason":"a\\n\\tat b.C.d(C.java:1)"}],\
            "run":"run_01m7fa4qd2e008xnc9yb7qb9av","state":"waiting","name":"a"}""";

    private static final List<String> COMMANDS = List.of(
            "schedule list",
            "schedule get a",
            "schedule list -o yaml",
            "run list",
            "run get a",
            "run get a -o json",
            "run enqueue a --payload {}",
            "run explain a",
            "queue list",
            "node list",
            "node health",
            "queue list --nothing",
            "--version");

    private ArchiveTraining() {}

    public static void main(String[] args) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread answering = new Thread(() -> answer(server), "carillon-training");
            answering.setDaemon(true);
            answering.start();
            Map<String, String> environment = Map.of(
                    "CARILLON_URL",
                    "http://127.0.0.1:" + server.getLocalPort(),
                    "CARILLON_KEY",
                    "none",
                    "COLUMNS",
                    "80");
            PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
            for (String command : COMMANDS)
                Main.run(new Shell(nowhere, nowhere, environment, () -> Instant.EPOCH), command.split(" "));
        }
        Shell.real();
    }

    private static void answer(ServerSocket server) {
        while (!server.isClosed()) {
            try (Socket socket = server.accept()) {
                answer(socket);
            } catch (IOException closed) {
                // The next command connects again, or the training is over.
            }
        }
    }

    private static void answer(Socket socket) throws IOException {
        BufferedReader request =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
        int length = 0;
        for (String line = request.readLine(); line != null && !line.isEmpty(); line = request.readLine())
            if (line.toLowerCase(Locale.ROOT).startsWith("content-length:"))
                length = Integer.parseInt(line.substring(15).strip());
        for (int i = 0; i < length; i++) request.read();
        byte[] body = ANSWER.getBytes(StandardCharsets.UTF_8);
        String head =
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
                        .formatted(body.length);
        OutputStream out = socket.getOutputStream();
        out.write(head.getBytes(StandardCharsets.ISO_8859_1));
        out.write(body);
        out.flush();
    }
}
