package io.carillon.bench.workload;

import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Profile;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.CarillonRestServer;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Measures commands from their start to their end, each in a process of its own: commands that use a server, and one
 * that does not. They are measured with and without the archive of loaded classes that the script writes.
 */
final class CommandStart implements Workload {
    private static final int TIMEOUT_SECONDS = 300;
    private static final double BAR_MILLIS = 500;

    private static final Map<String, List<String>> REMOTE = Map.of(
            "schedule list", List.of("schedule", "list"),
            "run list", List.of("run", "list"),
            "run enqueue", List.of("run", "enqueue", "bench.none", "--after", "1h"));

    @Override
    public String name() {
        return "cli";
    }

    @Override
    public String about() {
        return "commands in processes of their own, from start to end";
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        Findings findings = new Findings();
        int rounds = context.profile().choose(1, 11, 31);
        try (BenchDatabase database = context.server().migrated();
                CarillonRestServer server = new CarillonRestServer(database)) {
            CommandLine command = new CommandLine(context.profile(), server.url(), server.key());
            command.prepare();
            for (Map.Entry<String, List<String>> one : new TreeMap<>(REMOTE).entrySet()) {
                context.progress().report(one.getKey());
                double with = measure(findings, command, one.getKey(), one.getValue(), true, rounds);
                double without =
                        measure(findings, command, one.getKey() + ", no archive", one.getValue(), false, rounds);
                findings.add(Row.judged(
                                "carillon " + one.getKey(),
                                "≤ %s".formatted(FigureText.millis(BAR_MILLIS)),
                                FigureText.millis(with),
                                with <= BAR_MILLIS)
                        .note("median of %d; %s without the archive".formatted(rounds, FigureText.millis(without))));
            }
            double local = measure(findings, command, "cron", List.of("cron", "0 2 * * *"), true, rounds);
            findings.add(Row.info("carillon cron", FigureText.millis(local), "without a server"));
        }
        return findings;
    }

    private static double measure(
            Findings findings, CommandLine command, String name, List<String> words, boolean archive, int rounds)
            throws IOException, InterruptedException {
        List<Double> millis = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            double took = command.millis(words, archive);
            millis.add(took);
            findings.figure(name, took);
        }
        return Samples.of(millis).median();
    }

    /** The command under test: the script of the checkout; for the smoke test the classes of this process. */
    private record CommandLine(Profile profile, String url, String key) {
        /** Builds the command and its archive, which is not measured. */
        void prepare() throws IOException, InterruptedException {
            millis(List.of("--version"), true);
            if (profile == Profile.SMOKE) return;
            Path archive = home().resolve("carillon-cli/target/fast/commands.jsa");
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (!Files.exists(archive) && System.nanoTime() < end) TimeUnit.MILLISECONDS.sleep(100);
        }

        double millis(List<String> words, boolean archive) throws IOException, InterruptedException {
            List<String> command = new ArrayList<>(program());
            command.addAll(words);
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectOutput(Redirect.DISCARD).redirectError(Redirect.DISCARD);
            builder.environment()
                    .putAll(Map.of(
                            "CARILLON_URL", url, "CARILLON_KEY", key, "CARILLON_ARCHIVE", archive ? "on" : "off"));
            long start = System.nanoTime();
            Process process = builder.start();
            boolean ended = process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            double millis = (System.nanoTime() - start) / 1e6;
            if (!ended) process.destroyForcibly();
            if (!ended || process.exitValue() != 0)
                throw new MeasureException("'%s' did not succeed.".formatted(String.join(" ", words)));
            return millis;
        }

        private List<String> program() {
            if (profile != Profile.SMOKE)
                return List.of(home().resolve("carillon").toString());
            String java =
                    Path.of(System.getProperty("java.home"), "bin", "java").toString();
            // The benchmark does not contain the command; Java itself stands for it.
            return List.of(java, "-XX:TieredStopAtLevel=1", "-version");
        }

        private static Path home() {
            return Path.of(System.getProperty("carillon.bench.home", ".")).toAbsolutePath();
        }
    }
}
