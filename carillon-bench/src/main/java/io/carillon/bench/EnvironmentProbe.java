package io.carillon.bench;

import io.carillon.bench.peer.Peer;
import io.carillon.bench.report.BenchEnvironment;
import io.carillon.bench.server.BenchServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/** Determines the environment of a benchmark. */
final class EnvironmentProbe {
    private static final long GIB = 1L << 30;

    private EnvironmentProbe() {}

    static BenchEnvironment probe(String code, Bench.BenchRequest request, BenchServer server) throws SQLException {
        return new BenchEnvironment(
                code,
                request.profile().text(),
                request.peers().stream().map(Peer::name).collect(Collectors.joining(",")),
                machine(),
                versions(server.version()),
                settings(server.effectiveSettings(), request.peers()));
    }

    /**
     * Returns the commit, with a checksum of the uncommitted changes if there are any: changed code needs
     * its own results.
     */
    static String commit(Path home) {
        String head = git(home, "rev-parse", "--short=12", "HEAD");
        if (head.isBlank()) return "unknown";
        String changes = git(home, "diff", "HEAD", "--", "*.java", "*.sql", "*.xml");
        if (changes.isEmpty()) return head.strip();
        CRC32 sum = new CRC32();
        sum.update(changes.getBytes(StandardCharsets.UTF_8));
        return "%s+%08x".formatted(head.strip(), sum.getValue());
    }

    private static String git(Path home, String... words) {
        try {
            Process git = new ProcessBuilder(Stream.concat(Stream.of("git", "-C", home.toString()), Stream.of(words))
                            .toList())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String answer = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return git.waitFor(10, TimeUnit.SECONDS) && git.exitValue() == 0 ? answer : "";
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    private static Map<String, String> machine() {
        Map<String, String> machine = new LinkedHashMap<>();
        machine.put("cores", String.valueOf(Runtime.getRuntime().availableProcessors()));
        machine.put("cpu", valueInFile("/proc/cpuinfo", "model name"));
        machine.put("memory", valueInFile("/proc/meminfo", "MemTotal"));
        machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        machine.put("load", firstLine("/proc/loadavg"));
        return machine;
    }

    private static String valueInFile(String file, String name) {
        try (Stream<String> lines = Files.lines(Path.of(file))) {
            return lines.filter(line -> line.startsWith(name))
                    .findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }

    private static String firstLine(String file) {
        try {
            return Files.readString(Path.of(file)).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }

    private static Map<String, String> versions(String postgres) {
        Map<String, String> versions = new LinkedHashMap<>();
        versions.put("java", System.getProperty("java.vm.version"));
        versions.put("heap", Runtime.getRuntime().maxMemory() / (double) GIB + " GiB");
        versions.put("postgresql", postgres);
        // The file names of the jars contain their versions.
        for (String name : List.of("postgresql", "HikariCP", "db-scheduler", "quartz", "jobrunr"))
            versions.put(name.equals("postgresql") ? "pgjdbc" : name, jarVersion(name));
        return versions;
    }

    private static String jarVersion(String artifact) {
        Path lib = Path.of(System.getProperty("java.class.path")).resolveSibling("lib");
        try (Stream<Path> jars = Files.list(lib)) {
            return jars.map(jar -> jar.getFileName().toString())
                    .filter(name -> name.matches(artifact + "-\\d.*\\.jar"))
                    .map(name -> name.substring(artifact.length() + 1, name.length() - ".jar".length()))
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException | java.nio.file.InvalidPathException e) {
            return "unknown";
        }
    }

    private static Map<String, String> settings(Map<String, String> server, List<Peer> peers) {
        Map<String, String> settings = new LinkedHashMap<>(server);
        peers.forEach(peer -> settings.put(peer.name(), peer.settings()));
        return settings;
    }
}
