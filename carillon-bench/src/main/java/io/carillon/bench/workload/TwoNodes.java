package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.bench.child.Child;
import io.carillon.bench.child.Role;
import io.carillon.bench.measure.Cpu;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.Drained;
import io.carillon.bench.measure.Pace;
import io.carillon.bench.ours.OurDrain;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Two node processes that live through all rounds, so that their code is warm. */
final class TwoNodes implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final Duration LOOK = Duration.ofMillis(50);

    private final Child first;
    private final Child second;

    private TwoNodes(Child first, Child second) {
        this.first = first;
        this.second = second;
    }

    static TwoNodes start() throws IOException {
        return new TwoNodes(Child.start(Role.NODE, "-Xmx1g"), Child.start(Role.NODE, "-Xmx1g"));
    }

    /** How it went, and which part of it the first node did. */
    record Split(Drained drained, double share) {}

    Split drain(BenchDatabase database, int jobs) throws Exception {
        BenchDatabase.Address address = database.address();
        long server = Cpu.serverNanos(database.serverPid());
        for (Child node : List.of(first, second))
            node.ask(PATIENCE, "start", address.url(), address.user(), address.password(), String.valueOf(jobs));
        long since = System.nanoTime();
        while (ended(first) + ended(second) < jobs && System.nanoTime() - since < PATIENCE.toNanos()) Pace.sleep(LOOK);
        double serverCpu = (Cpu.serverNanos(database.serverPid()) - server) / 1e9;
        Summary one = Summary.of(first.ask(PATIENCE, "stop"));
        Summary two = Summary.of(second.ask(PATIENCE, "stop"));
        try (HikariDataSource pool = database.pool(1)) {
            OurDrain.check(new Sql(pool), jobs);
        }
        double seconds = (Math.max(one.last, two.last) - Math.min(one.start(), two.start())) / 1e9;
        int handled = one.present + two.present;
        int twice = one.twice + two.twice + Math.max(0, handled - jobs);
        CpuMeter.Used cpu = new CpuMeter.Used((one.cpu + two.cpu) / 1e9, serverCpu);
        return new Split(
                new Drained(jobs, seconds, Math.max(0, jobs - handled), twice, cpu), (double) one.present / handled);
    }

    private static int ended(Child node) {
        return Integer.parseInt(node.ask(PATIENCE, "ended").get(0));
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }

    private record Summary(int present, int twice, long first, long last, long cpu) {
        /** A node that got nothing never started. */
        long start() {
            return present == 0 ? Long.MAX_VALUE : first;
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
