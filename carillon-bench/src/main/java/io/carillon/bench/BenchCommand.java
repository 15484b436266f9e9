package io.carillon.bench;

import io.carillon.bench.measure.Profile;
import io.carillon.bench.peer.Peer;
import io.carillon.bench.peer.Peers;
import io.carillon.bench.report.Report;
import io.carillon.bench.workload.Workloads;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command line of {@code carillon bench}. */
@Command(
        name = "carillon bench",
        description = "Compare Carillon with other schedulers and with plain SQL, on an embedded PostgreSQL with full "
                + "durability.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        footer = {
            "",
            "A workload with a stored result for the same code, profile and peers is measured again only",
            "if it is named.",
            "Exit codes: 0 success, 1 failure, 2 invalid command line.",
        })
final class BenchCommand implements Callable<Integer> {
    private static final String HOME_PROPERTY = "carillon.bench.home";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(
            paramLabel = "WORKLOAD",
            arity = "0..*",
            description = "Workloads to measure: ${COMPLETION-CANDIDATES}. Default: all.",
            completionCandidates = WorkloadNames.class)
    private List<String> workloads = List.of();

    @Option(
            names = "--peers",
            split = ",",
            paramLabel = "NAME",
            defaultValue = Peers.DB_SCHEDULER,
            description = "Schedulers to compare with: db-scheduler, quartz, jobrunr, graphile-worker, pg-boss, all or "
                    + "none. The last two peers need npm. Default: ${DEFAULT-VALUE}.")
    private List<String> peers = List.of();

    @Option(names = "--full", description = "Longer rounds, including the measurements of ten minutes.")
    private boolean full;

    @Option(names = "--smoke", hidden = true, description = "Tiny sizes, to test the benchmark itself.")
    private boolean smoke;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "table|markdown|json",
            defaultValue = "table",
            description = "Output format. Default: ${DEFAULT-VALUE}.")
    private Report.Form output = Report.Form.TABLE;

    @Option(
            names = "--results",
            paramLabel = "FILE",
            description = "File for the results, one JSON object per line. Default: .carillon/bench/results.jsonl.")
    private @Nullable Path results;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Directory of the database during the benchmark. Default: .carillon/bench/postgres.")
    private @Nullable Path data;

    @Option(
            names = "--database-url",
            paramLabel = "URL",
            description = "Running PostgreSQL on this machine, with its own settings: "
                    + "postgres://superuser:password@host:5432/. Databases named bench_… are dropped. Default: an "
                    + "embedded PostgreSQL.")
    private @Nullable String databaseUrl;

    /** The names of the workloads, for the help. */
    static final class WorkloadNames implements Iterable<String> {
        @Override
        public java.util.Iterator<String> iterator() {
            return Workloads.names().iterator();
        }
    }

    @Override
    public Integer call() throws Exception {
        Path home = Path.of(System.getProperty(HOME_PROPERTY, "."));
        Path kept = home.resolve(".carillon").resolve("bench");
        Bench bench = new Bench(
                new Bench.BenchRequest(
                        workloads, chosenPeers(), smoke ? Profile.SMOKE : full ? Profile.FULL : Profile.QUICK),
                new Bench.BenchPaths(
                        EnvironmentProbe.commit(home),
                        data == null ? kept.resolve("postgres") : data,
                        results == null ? kept.resolve("results.jsonl") : results,
                        databaseUrl),
                ProgressLine.on(spec.commandLine().getErr()));
        Report report = bench.run();
        spec.commandLine().getOut().print(report.text(output));
        spec.commandLine().getOut().flush();
        return 0;
    }

    private List<Peer> chosenPeers() {
        if (peers.equals(List.of("none"))) return List.of();
        if (peers.equals(List.of("all"))) return Peers.all();
        return peers.stream().map(Peers::named).toList();
    }
}
