package io.carillon.bench.peer;

import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.CpuTime;
import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.FiringScheduler;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.server.BenchDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A peer written in JavaScript: peer.mjs in a process of its own, which is new and cold for each measurement. */
record NodePeer(String name, String settings, int expectedPerSecond, boolean hasFastPickup) implements Peer {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    @Override
    public DrainResult drain(BenchDatabase database, int jobs) throws Exception {
        try (Script script = new Script(database, "drain", jobs, 0)) {
            database.analyzeAndCheckpoint();
            long server = CpuTime.serverNanos(database.serverPid());
            JsonNode result = script.run();
            return new DrainResult(
                    jobs,
                    result.path("seconds").asDouble(),
                    result.path("missing").asInt(),
                    result.path("duplicates").asInt(),
                    new CpuMeter.Used(
                            result.path("cpu").asDouble(), (CpuTime.serverNanos(database.serverPid()) - server) / 1e9));
        }
    }

    @Override
    public OptionalDouble bulkPerSecond(BenchDatabase database, int jobs) throws Exception {
        return perSecond(database, "bulk", jobs, 0);
    }

    @Override
    public OptionalDouble singlePerSecond(BenchDatabase database, int jobs, int threads) throws Exception {
        return perSecond(database, "single", jobs, threads);
    }

    private OptionalDouble perSecond(BenchDatabase database, String mode, int jobs, int threads) throws Exception {
        try (Script script = new Script(database, mode, jobs, threads)) {
            return OptionalDouble.of(script.run().path("perSecond").asDouble());
        }
    }

    @Override
    public Optional<Samples> pickupMillis(BenchDatabase database, int jobs) throws Exception {
        if (!hasFastPickup) return Optional.empty();
        try (Script script = new Script(database, "pickup", jobs, 0)) {
            JsonNode millis = script.run().path("millis");
            return Optional.of(Samples.of(StreamSupport.stream(millis.spliterator(), false)
                    .mapToDouble(JsonNode::asDouble)
                    .toArray()));
        }
    }

    @Override
    public Optional<FiringScheduler> firing(BenchDatabase database, double perSecond) {
        return Optional.empty();
    }

    /** A running script that has stored its jobs and waits. */
    private final class Script implements AutoCloseable {
        private final Process process;
        private final BufferedReader out;

        Script(BenchDatabase database, String mode, int jobs, int threads) throws IOException {
            Path directory = NodePackages.install();
            process = new ProcessBuilder(List.of(
                            directory.resolve("node_modules/node/bin/node").toString(),
                            "peer.mjs",
                            name,
                            url(database.address()),
                            mode,
                            String.valueOf(jobs),
                            String.valueOf(threads)))
                    .directory(directory.toFile())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            out = process.inputReader(StandardCharsets.UTF_8);
            if (!"ready".equals(out.readLine())) throw new MeasureException("%s did not start.".formatted(name));
        }

        JsonNode run() throws IOException {
            process.outputWriter(StandardCharsets.UTF_8).append("go\n").flush();
            String result = out.readLine();
            if (result == null) throw new MeasureException("%s failed; see its message above.".formatted(name));
            return JSON.readTree(result);
        }

        @Override
        public void close() {
            process.destroy();
        }
    }

    private static String url(BenchDatabase.Address address) {
        URI place = URI.create(address.url().replaceFirst("^jdbc:", "").replaceFirst("\\?.*", ""));
        return "postgres://%s:%s@%s:%d%s"
                .formatted(
                        URLEncoder.encode(address.user(), StandardCharsets.UTF_8),
                        URLEncoder.encode(address.password(), StandardCharsets.UTF_8),
                        place.getHost(),
                        place.getPort(),
                        place.getPath());
    }
}
