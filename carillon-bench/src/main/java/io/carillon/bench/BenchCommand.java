package io.carillon.bench;

import io.carillon.bench.peer.Peer;
import io.carillon.bench.peer.Peers;
import io.carillon.bench.report.Report;
import io.carillon.bench.workload.Profile;
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

/** The words of {@code carillon bench}. */
@Command(
        name = "carillon bench",
        description =
                "Measures Carillon beside its peers and beside plain SQL, on an embedded PostgreSQL with full durability.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        footer = {
            "",
            "A workload that is in the result file for the same code, profile and peers is not measured again unless it is named.",
            "Exit codes: 0 measured, 1 it did not work, 2 it was not understood.",
        })
final class BenchCommand implements Callable<Integer> {
    private static final String HOME = "carillon.bench.home";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(
            paramLabel = "WORKLOAD",
            arity = "0..*",
            description = "what to measure; all unless said: ${COMPLETION-CANDIDATES}",
            completionCandidates = Names.class)
    private List<String> workloads = List.of();

    @Option(
            names = "--peers",
            split = ",",
            paramLabel = "NAME",
            defaultValue = Peers.DB_SCHEDULER,
            description =
                    "peers to measure beside: db-scheduler, quartz, jobrunr, all or none; ${DEFAULT-VALUE} unless said")
    private List<String> peers = List.of();

    @Option(names = "--full", description = "longer rounds, and the rows of ten minutes")
    private boolean full;

    @Option(names = "--smoke", hidden = true, description = "tiny sizes: does the benchmark itself work")
    private boolean smoke;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "table|markdown|json",
            defaultValue = "table",
            description = "form of the answer")
    private Report.Form output = Report.Form.TABLE;

    @Option(names = "--results", paramLabel = "FILE", description = "where results are kept, one JSON object on a line")
    private @Nullable Path results;

    @Option(names = "--data", paramLabel = "DIR", description = "where the database lies while it is measured")
    private @Nullable Path data;

    @Option(
            names = "--database-url",
            paramLabel = "URL",
            description =
                    "A PostgreSQL that runs on this machine, with its own settings: postgres://superuser:password@host:5432/. Default: an embedded one. Drops databases named bench_…")
    private @Nullable String databaseUrl;

    /** For the help. */
    static final class Names implements Iterable<String> {
        @Override
        public java.util.Iterator<String> iterator() {
            return Workloads.names().iterator();
        }
    }

    @Override
    public Integer call() throws Exception {
        Path home = Path.of(System.getProperty(HOME, "."));
        Path kept = home.resolve(".carillon").resolve("bench");
        Bench bench = new Bench(
                new Bench.Wishes(workloads, chosen(), smoke ? Profile.SMOKE : full ? Profile.FULL : Profile.QUICK),
                new Bench.Places(
                        Surroundings.commit(home),
                        data == null ? kept.resolve("postgres") : data,
                        results == null ? kept.resolve("results.jsonl") : results,
                        databaseUrl),
                ProgressLine.on(spec.commandLine().getErr()));
        Report report = bench.run();
        spec.commandLine().getOut().print(report.text(output));
        spec.commandLine().getOut().flush();
        return 0;
    }

    private List<Peer> chosen() {
        if (peers.equals(List.of("none"))) return List.of();
        if (peers.equals(List.of("all"))) return Peers.all();
        return peers.stream().map(Peers::named).toList();
    }
}
