package io.carillon.bench.workload;

import io.carillon.bench.child.Child;
import io.carillon.bench.child.Role;
import io.carillon.bench.measure.Pace;
import io.carillon.bench.ours.OurDrain;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.time.Duration;

/** A node in a heap of 256 MiB holds ten thousand runs at a time, each in a handler that waits. */
final class Memory implements Workload {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
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
    public Findings run(Stage stage) throws Exception {
        int runs = stage.profile().pick(200, 10_000, 10_000);
        Findings findings = new Findings();
        try (BenchDatabase database = stage.server().migrated();
                Child holder = Child.start(Role.HOLDER, "-Xmx256m", "-Xss512k")) {
            stage.progress().say("storing");
            OurDrain.store(database, runs);
            BenchDatabase.Address address = database.address();
            holder.ask(PATIENCE, "start", address.url(), address.user(), address.password(), String.valueOf(runs));
            stage.progress().say("holding %,d runs".formatted(runs));
            boolean all = Pace.await(() -> ask(holder, "held") >= runs, PATIENCE);
            long held = ask(holder, "held");
            double heap = ask(holder, "heap") / MIB;
            holder.ask(PATIENCE, "release");
            boolean ended = Pace.await(() -> ask(holder, "ended") >= runs, PATIENCE);
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

    private static long ask(Child holder, String what) {
        return Long.parseLong(holder.ask(PATIENCE, what).get(0));
    }
}
