package io.carillon.bench;

import io.carillon.bench.peer.Peer;
import io.carillon.bench.report.Circumstances;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Report;
import io.carillon.bench.report.Result;
import io.carillon.bench.report.ResultFile;
import io.carillon.bench.server.BenchServer;
import io.carillon.bench.workload.Profile;
import io.carillon.bench.workload.Stage;
import io.carillon.bench.workload.Workload;
import io.carillon.bench.workload.Workloads;
import io.carillon.value.WallClock;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One benchmark: the wanted workloads in turn, each result kept as soon as it is there. */
final class Bench {
    /** What was asked for; no names mean all workloads that have no result yet. */
    record Wishes(List<String> names, List<Peer> peers, Profile profile) {
        Wishes {
            names = List.copyOf(names);
            peers = List.copyOf(peers);
            for (String name : names)
                if (!Workloads.names().contains(name))
                    throw new IllegalArgumentException("There is no workload '%s'. Choose from %s."
                            .formatted(name, String.join(", ", Workloads.names())));
        }

        boolean wants(Workload workload) {
            return names.isEmpty() || names.contains(workload.name());
        }
    }

    /** The name of the code that is measured, the data while it is measured, the file of results, and the server if it runs already. */
    record Places(
            String code, Path data, Path results, @Nullable String url) {}

    private final Wishes wishes;
    private final Places places;
    private final ProgressLine progress;

    Bench(Wishes wishes, Places places, ProgressLine progress) {
        this.wishes = wishes;
        this.places = places;
        this.progress = progress;
    }

    Report run() throws Exception {
        progress.workload("server");
        try (BenchServer server = server()) {
            Circumstances now = Surroundings.of(places.code(), wishes, server);
            return run(Workloads.all(), new Stage(server, wishes.peers(), wishes.profile(), progress), now);
        } finally {
            Folders.delete(places.data());
        }
    }

    private BenchServer server() throws SQLException {
        String url = places.url();
        return url == null
                ? BenchServer.start(places.data(), BenchServer.SETTINGS, progress::say)
                : BenchServer.at(url);
    }

    /** Measures what is wanted and not known yet. */
    Report run(List<Workload> workloads, Stage stage, Circumstances now) throws Exception {
        ResultFile file = new ResultFile(places.results());
        List<Result> results = new ArrayList<>();
        for (Workload workload : workloads) {
            if (!wishes.wants(workload)) continue;
            progress.workload(workload.name());
            Optional<Result> known = wishes.names().isEmpty() ? file.find(workload.name(), now) : Optional.empty();
            if (known.isPresent())
                progress.keep("already measured at " + known.get().startedAt());
            results.add(known.isPresent() ? known.get() : measure(workload, stage, now, file));
        }
        return new Report(results);
    }

    private Result measure(Workload workload, Stage stage, Circumstances now, ResultFile file) throws Exception {
        Instant at = Instant.ofEpochMilli(WallClock.millis());
        long start = System.nanoTime();
        Findings findings = workload.run(stage);
        double seconds = (System.nanoTime() - start) / 1e9;
        Result result = new Result(workload.name(), at.toString(), seconds, now, findings.rows(), findings.figures());
        file.append(result);
        progress.keep("measured in %.0f s".formatted(seconds));
        return result;
    }
}
