package io.carillon.bench.child;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.CpuTime;
import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Node processes that live through all drains, so that their code is warm after the first ones. */
public final class NodeProcesses implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    private final List<ChildProcess> nodes;

    private NodeProcesses(List<ChildProcess> nodes) {
        this.nodes = nodes;
    }

    public static NodeProcesses start(int number) throws IOException {
        List<ChildProcess> nodes = new ArrayList<>();
        for (int i = 0; i < number; i++) nodes.add(ChildProcess.start(Role.NODE, "-Xmx1g"));
        return new NodeProcesses(List.copyOf(nodes));
    }

    /** The result of a drain, and the share of the first node. */
    public record Split(DrainResult drainResult, double share) {}

    public Split drain(BenchDatabase database, int jobs) throws Exception {
        BenchDatabase.Address address = database.address();
        long server = CpuTime.serverNanos(database.serverPid());
        for (ChildProcess node : nodes)
            node.ask(TIMEOUT, "start", address.url(), address.user(), address.password(), String.valueOf(jobs));
        long since = System.nanoTime();
        while (nodes.stream().mapToInt(NodeProcesses::ended).sum() < jobs
                && System.nanoTime() - since < TIMEOUT.toNanos()) Waiting.sleep(POLL_INTERVAL);
        double serverCpu = (CpuTime.serverNanos(database.serverPid()) - server) / 1e9;
        List<Summary> summaries = new ArrayList<>();
        for (ChildProcess node : nodes) summaries.add(Summary.of(node.ask(TIMEOUT, "stop")));
        try (HikariDataSource pool = database.pool(1)) {
            CarillonDrain.check(new Sql(pool), jobs);
        }
        long first = summaries.stream().mapToLong(Summary::start).min().orElseThrow();
        long last = summaries.stream().mapToLong(Summary::last).max().orElseThrow();
        int handled = summaries.stream().mapToInt(Summary::distinct).sum();
        int twice = summaries.stream().mapToInt(Summary::duplicates).sum() + Math.max(0, handled - jobs);
        double cpu = summaries.stream().mapToLong(Summary::cpu).sum() / 1e9;
        return new Split(
                new DrainResult(
                        jobs,
                        (last - first) / 1e9,
                        Math.max(0, jobs - handled),
                        twice,
                        new CpuMeter.Used(cpu, serverCpu)),
                (double) summaries.get(0).distinct() / handled);
    }

    private static int ended(ChildProcess node) {
        return Integer.parseInt(node.ask(TIMEOUT, "ended").get(0));
    }

    @Override
    public void close() {
        nodes.forEach(ChildProcess::close);
    }

    private record Summary(int distinct, int duplicates, long first, long last, long cpu) {
        /** Returns the time of the first start; a node without runs has none. */
        long start() {
            return distinct == 0 ? Long.MAX_VALUE : first;
        }

        static Summary of(List<String> words) {
            return new Summary(
                    Integer.parseInt(words.get(0)),
                    Integer.parseInt(words.get(1)),
                    Long.parseLong(words.get(2)),
                    Long.parseLong(words.get(3)),
                    Long.parseLong(words.get(4)));
        }
    }
}
