package io.carillon.bench.workload;

import io.carillon.bench.child.ChildProcess;
import io.carillon.bench.child.Role;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.time.Duration;

/** Measures a node with a heap of 256 MiB that holds ten thousand runs at a time, each in a handler that waits. */
final class Memory implements Workload {
    private static final Duration TIMEOUT = Duration.ofMinutes(3);
    private static final double MIB = 1 << 20;

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public String about() {
        return "10,000 runs held by one node with -Xmx256m";
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        int runs = context.profile().choose(200, 10_000, 10_000);
        Findings findings = new Findings();
        try (BenchDatabase database = context.server().migrated();
                ChildProcess holder = ChildProcess.start(Role.HOLDER, "-Xmx256m", "-Xss512k")) {
            context.progress().report("storing");
            CarillonDrain.store(database, runs);
            BenchDatabase.Address address = database.address();
            holder.ask(TIMEOUT, "start", address.url(), address.user(), address.password(), String.valueOf(runs));
            context.progress().report("holding %,d runs".formatted(runs));
            boolean all = Waiting.await(() -> ask(holder, "held") >= runs, TIMEOUT);
            long held = ask(holder, "held");
            double heap = ask(holder, "heap") / MIB;
            holder.ask(TIMEOUT, "release");
            boolean ended = Waiting.await(() -> ask(holder, "ended") >= runs, TIMEOUT);
            findings.figure("held", (double) held);
            findings.figure("heap MiB", heap);
            findings.add(Row.judged(
                            "%,d runs held by a node".formatted(runs),
                            "with a heap of 256 MiB",
                            "%,d held, %.0f MiB used, %s".formatted(held, heap, ended ? "all ended" : "NOT all ended"),
                            all && ended)
                    .note("each in a handler that waits"));
        }
        return findings;
    }

    private static long ask(ChildProcess holder, String what) {
        return Long.parseLong(holder.ask(TIMEOUT, what).get(0));
    }
}
