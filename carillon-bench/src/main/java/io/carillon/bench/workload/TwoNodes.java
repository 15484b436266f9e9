package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.bench.child.ChildProcess;
import io.carillon.bench.child.Role;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.CpuTime;
import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Two node processes that live through all rounds, so that their code is warm. */
final class TwoNodes implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    private final ChildProcess first;
    private final ChildProcess second;

    private TwoNodes(ChildProcess first, ChildProcess second) {
        this.first = first;
        this.second = second;
    }

    static TwoNodes start() throws IOException {
        return new TwoNodes(ChildProcess.start(Role.NODE, "-Xmx1g"), ChildProcess.start(Role.NODE, "-Xmx1g"));
    }

    /** The result of a drain, and the share of the first node. */
    record Split(DrainResult drainResult, double share) {}

    Split drain(BenchDatabase database, int jobs) throws Exception {
        BenchDatabase.Address address = database.address();
        long server = CpuTime.serverNanos(database.serverPid());
        for (ChildProcess node : List.of(first, second))
            node.ask(TIMEOUT, "start", address.url(), address.user(), address.password(), String.valueOf(jobs));
        long since = System.nanoTime();
        while (ended(first) + ended(second) < jobs && System.nanoTime() - since < TIMEOUT.toNanos())
            Waiting.sleep(POLL_INTERVAL);
        double serverCpu = (CpuTime.serverNanos(database.serverPid()) - server) / 1e9;
        Summary one = Summary.of(first.ask(TIMEOUT, "stop"));
        Summary two = Summary.of(second.ask(TIMEOUT, "stop"));
        try (HikariDataSource pool = database.pool(1)) {
            CarillonDrain.check(new Sql(pool), jobs);
        }
        double seconds = (Math.max(one.last, two.last) - Math.min(one.start(), two.start())) / 1e9;
        int handled = one.distinct + two.distinct;
        int twice = one.duplicates + two.duplicates + Math.max(0, handled - jobs);
        CpuMeter.Used cpu = new CpuMeter.Used((one.cpu + two.cpu) / 1e9, serverCpu);
        return new Split(
                new DrainResult(jobs, seconds, Math.max(0, jobs - handled), twice, cpu),
                (double) one.distinct / handled);
    }

    private static int ended(ChildProcess node) {
        return Integer.parseInt(node.ask(TIMEOUT, "ended").get(0));
    }

    @Override
    public void close() {
        first.close();
        second.close();
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
