package io.carillon.bench;

import io.carillon.bench.measure.Profile;
import io.carillon.bench.peer.Peer;
import io.carillon.bench.report.BenchEnvironment;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Report;
import io.carillon.bench.report.Result;
import io.carillon.bench.report.ResultFile;
import io.carillon.bench.server.BenchServer;
import io.carillon.bench.workload.Workload;
import io.carillon.bench.workload.WorkloadContext;
import io.carillon.bench.workload.Workloads;
import io.carillon.internal.value.WallClock;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A benchmark: runs the requested workloads one after another and stores each result immediately. */
final class Bench {
    /** The requested workloads, peers and profile. No names mean all workloads that have no result yet. */
    record BenchRequest(List<String> names, List<Peer> peers, Profile profile) {
        BenchRequest {
            names = List.copyOf(names);
            peers = List.copyOf(peers);
            for (String name : names)
                if (!Workloads.names().contains(name))
                    throw new IllegalArgumentException("Unknown workload '%s'. Choose from %s."
                            .formatted(name, String.join(", ", Workloads.names())));
        }

        boolean includes(Workload workload) {
            return names.isEmpty() || names.contains(workload.name());
        }
    }

    /**
     * The measured code and the locations of a benchmark.
     *
     * @param codeVersion the version of the measured code
     * @param data the directory of the embedded database during the benchmark
     * @param results the file that stores the results
     * @param databaseUrl null for the embedded database
     */
    record BenchPaths(
            String codeVersion,
            Path data,
            Path results,
            @Nullable String databaseUrl) {}

    private final BenchRequest request;
    private final BenchPaths paths;
    private final ProgressLine progress;

    Bench(BenchRequest request, BenchPaths paths, ProgressLine progress) {
        this.request = request;
        this.paths = paths;
        this.progress = progress;
    }

    Report run() throws Exception {
        progress.workload("server");
        try (BenchServer server = server()) {
            BenchEnvironment now = EnvironmentProbe.probe(paths.codeVersion(), request, server);
            return run(Workloads.all(), new WorkloadContext(server, request.peers(), request.profile(), progress), now);
        } finally {
            DataCleanup.delete(paths.data());
        }
    }

    private BenchServer server() throws SQLException {
        String url = paths.databaseUrl();
        return url == null
                ? BenchServer.start(paths.data(), BenchServer.SETTINGS, progress::report)
                : BenchServer.at(url);
    }

    /** Measures the requested workloads. Without names, workloads with a stored result are not measured again. */
    Report run(List<Workload> workloads, WorkloadContext context, BenchEnvironment now) throws Exception {
        ResultFile file = new ResultFile(paths.results());
        List<Result> results = new ArrayList<>();
        for (Workload workload : workloads) {
            if (!request.includes(workload)) continue;
            progress.workload(workload.name());
            Optional<Result> known = request.names().isEmpty() ? file.find(workload.name(), now) : Optional.empty();
            if (known.isPresent())
                progress.printPermanently("already measured at " + known.get().startedAt());
            results.add(known.isPresent() ? known.get() : measure(workload, context, now, file));
        }
        return new Report(results);
    }

    private Result measure(Workload workload, WorkloadContext context, BenchEnvironment now, ResultFile file)
            throws Exception {
        Instant at = Instant.ofEpochMilli(WallClock.millis());
        long start = System.nanoTime();
        Findings findings = workload.run(context);
        double seconds = (System.nanoTime() - start) / 1e9;
        Result result = new Result(workload.name(), at.toString(), seconds, now, findings.rows(), findings.figures());
        file.append(result);
        progress.printPermanently("measured in %.0f s".formatted(seconds));
        return result;
    }
}
