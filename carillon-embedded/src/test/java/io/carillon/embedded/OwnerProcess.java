package io.carillon.embedded;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Another JVM that owns a server, running {@link Owner}. */
final class OwnerProcess implements AutoCloseable {
    private final Process process;
    private final Map<String, String> printedLines = new LinkedHashMap<>();

    private OwnerProcess(Process process) {
        this.process = process;
    }

    static OwnerProcess launch(Map<String, String> environment, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Owner.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        return new OwnerProcess(builder.start());
    }

    /** Reads the output until the server is ready, or the program has ended without a server. */
    OwnerProcess awaitReady() throws IOException {
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        for (String line = output.readLine(); line != null && !line.equals("ready"); line = output.readLine()) {
            int equals = line.indexOf('=');
            printedLines.put(equals < 0 ? line : line.substring(0, equals), line.substring(equals + 1));
        }
        return this;
    }

    boolean hasPrinted(String line) {
        return printedLines.containsKey(line);
    }

    String lastQueryResult() {
        return printedLines.get("last words");
    }

    String allOutput() {
        return String.join("\n", printedLines.values());
    }

    ProcessHandle server() {
        return ProcessHandle.of(Long.parseLong(printedLines.get("pid"))).orElseThrow();
    }

    Path data() {
        return Path.of(printedLines.get("data"));
    }

    String url() {
        return printedLines.get("url");
    }

    /** Kills only the JVM; its child processes continue. */
    void killJvm() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Returns the watchdog shell of the server. */
    ProcessHandle watchdog() {
        ProcessHandle server = server();
        return process.children()
                .filter(child -> !child.equals(server))
                .findAny()
                .orElseThrow();
    }

    /** Kills the JVM and the watchdog; the server continues. */
    void killAllButTheServer() throws InterruptedException {
        watchdog().destroyForcibly();
        killJvm();
    }

    /** Sends SIGTERM, like a service manager. */
    boolean terminate() throws InterruptedException {
        // By its handle: Process.destroy would also close the output.
        process.toHandle().destroy();
        return process.waitFor(20, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        process.onExit().completeOnTimeout(process, 20, TimeUnit.SECONDS).join();
        process.destroyForcibly();
    }
}
