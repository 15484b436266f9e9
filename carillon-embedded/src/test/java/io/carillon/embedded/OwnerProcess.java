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

/** Another JVM that owns a server: {@link Owner}, seen from outside. */
final class OwnerProcess implements AutoCloseable {
    private final Process process;
    private final Map<String, String> said = new LinkedHashMap<>();

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

    /** Reads on until the server is ready, or the program has ended without one. */
    OwnerProcess untilReady() throws IOException {
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        for (String line = output.readLine(); line != null && !line.equals("ready"); line = output.readLine()) {
            int equals = line.indexOf('=');
            said.put(equals < 0 ? line : line.substring(0, equals), line.substring(equals + 1));
        }
        return this;
    }

    boolean said(String line) {
        return said.containsKey(line);
    }

    String lastWords() {
        return said.get("last words");
    }

    String everything() {
        return String.join("\n", said.values());
    }

    ProcessHandle server() {
        return ProcessHandle.of(Long.parseLong(said.get("pid"))).orElseThrow();
    }

    Path data() {
        return Path.of(said.get("data"));
    }

    String url() {
        return said.get("url");
    }

    /** The JVM alone dies; those it started live on. */
    void killJvm() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** The shell that watches over the server. */
    ProcessHandle watchdog() {
        ProcessHandle server = server();
        return process.children()
                .filter(child -> !child.equals(server))
                .findAny()
                .orElseThrow();
    }

    /** The JVM and the watchdog die; the server itself lives on. */
    void killAllButTheServer() throws InterruptedException {
        watchdog().destroyForcibly();
        killJvm();
    }

    /** What Ctrl-C or a service manager does. */
    boolean terminate() throws InterruptedException {
        // By its handle: Process.destroy would close the output, too.
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
