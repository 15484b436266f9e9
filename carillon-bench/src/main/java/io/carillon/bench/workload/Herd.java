package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.ours.CarillonSchedules;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.run.Enqueue;
import io.carillon.run.RunContext;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Measures very many schedules that are due at one instant, while single runs of other lanes are due within
 * the same second.
 */
final class Herd implements Workload {
    private static final int LANES = 40;
    private static final Duration BETWEEN_LANES = Duration.ofMillis(25);

    @Override
    public String name() {
        return "herd";
    }

    @Override
    public String about() {
        return "20,000 schedules due at one instant, and single runs of 40 other lanes within that second";
    }

    /**
     * The milliseconds from due time to start, by the instant of the herd: for the herd and for the runs
     * of other lanes.
     */
    private record Lateness(Map<Instant, Queue<Double>> herds, Map<Instant, Queue<Double>> others) {
        void started(BenchPayload benchPayload, RunContext run, ServerTime time) {
            Instant due = run.dueAt();
            double millis = (time.nanos() - ServerTime.nanos(due)) / 1e6;
            boolean herd = run.plannedAt().isPresent();
            // Run k of a lane belongs to the herd that was due k steps before it.
            Instant key = herd ? due : due.minus(BETWEEN_LANES.multipliedBy(benchPayload.number()));
            (herd ? herds : others)
                    .computeIfAbsent(key, k -> new ConcurrentLinkedQueue<>())
                    .add(millis);
        }

        static Samples of(Map<Instant, Queue<Double>> late, Instant herd) {
            return Samples.of(List.copyOf(late.getOrDefault(herd, new ConcurrentLinkedQueue<>())));
        }

        static int count(Map<Instant, Queue<Double>> late, Instant herd) {
            return late.getOrDefault(herd, new ConcurrentLinkedQueue<>()).size();
        }
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        int schedules = context.profile().choose(500, 20_000, 20_000);
        int herds = context.rounds() + 1;
        Duration period = Duration.ofSeconds(context.profile().choose(2, 12, 20));
        Findings findings = new Findings();
        Lateness lateness = new Lateness(new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(CarillonDrain.POOL);
                Connection clock = database.connect()) {
            ServerTime time = ServerTime.on(clock);
            Instant first =
                    time.now().plusSeconds(context.profile().choose(3, 15, 15)).truncatedTo(ChronoUnit.SECONDS);
            context.progress().report("storing %d schedules".formatted(schedules));
            store(database, pool, CarillonSchedules.Copies.herd(schedules, period, first, herds), herds);
            List<Instant> instants = new ArrayList<>();
            for (int i = 0; i < herds; i++) instants.add(first.plus(period.multipliedBy(i)));
            try (Carillon node = Carillon.on(pool)
                    .handle(BenchPayload.TYPE, (benchPayload, run) -> lateness.started(benchPayload, run, time))
                    .start()) {
                node.health();
                for (Instant herd : instants) {
                    await(context, time, clock, herd);
                    Waiting.require(
                            "The herd at " + herd,
                            () -> Lateness.count(lateness.herds, herd) >= schedules
                                    && Lateness.count(lateness.others, herd) >= LANES,
                            Duration.ofSeconds(60));
                }
            }
        }
        rows(findings, lateness, instants(first(lateness), period, herds), schedules);
        return findings;
    }

    private static Instant first(Lateness lateness) {
        return lateness.herds.keySet().stream().min(Instant::compareTo).orElseThrow();
    }

    private static List<Instant> instants(Instant first, Duration period, int herds) {
        List<Instant> instants = new ArrayList<>();
        for (int i = 0; i < herds; i++) instants.add(first.plus(period.multipliedBy(i)));
        return instants;
    }

    private static void store(BenchDatabase database, HikariDataSource pool, CarillonSchedules.Copies copies, int herds)
            throws Exception {
        try (Carillon client = Carillon.on(pool)
                .handle(BenchPayload.TYPE, (benchPayload, run) -> {})
                .build()) {
            for (Instant herd : instants(copies.first(), period(copies), herds))
                for (int k = 0; k < LANES; k++)
                    client.enqueue(
                            BenchPayload.TYPE,
                            BenchPayload.of(k),
                            Enqueue.at(herd.plus(BETWEEN_LANES.multipliedBy(k))).queue("lane-" + k));
            CarillonSchedules.store(database, client, copies);
        }
    }

    private static Duration period(CarillonSchedules.Copies copies) {
        Instant second = copies.when().next(copies.first()).orElse(copies.first());
        return Duration.between(copies.first(), second);
    }

    private static void await(WorkloadContext context, ServerTime time, Connection clock, Instant herd)
            throws Exception {
        context.progress().report("waiting for the herd at " + herd);
        while (time.now().isBefore(herd.minusSeconds(1))) {
            Waiting.sleep(Duration.ofMillis(200));
            if (time.now().isAfter(herd)) throw new MeasureException("The herd at " + herd + " was missed.");
        }
        time.refresh(clock);
    }

    /** Adds the rows. The first herd is the warm-up. */
    private static void rows(Findings findings, Lateness lateness, List<Instant> instants, int schedules) {
        List<Double> lasts = new ArrayList<>();
        List<Double> lanes = new ArrayList<>();
        boolean once = true;
        for (Instant herd : instants.subList(1, instants.size())) {
            Samples herdLate = Lateness.of(lateness.herds, herd);
            Samples laneLate = Lateness.of(lateness.others, herd);
            once &= herdLate.size() == schedules && laneLate.size() == LANES;
            lasts.add(herdLate.max());
            lanes.add(laneLate.max());
            findings.figure("last of the herd, ms", herdLate.max());
            findings.figure("median of the herd, ms", herdLate.median());
            findings.figure("latest of another lane, ms", laneLate.max());
        }
        double last = Samples.of(lasts).median();
        double lane = Samples.of(lanes).median();
        findings.add(Row.judged(
                "%,d schedules at one instant".formatted(schedules),
                "all once, within 1.0 s",
                (once ? "all once" : "NOT all once") + ", last after " + FigureText.millis(last),
                once && last <= 1_000));
        findings.add(Row.judged(
                "%d other lanes meanwhile".formatted(LANES),
                "none later than 100 ms",
                "latest " + FigureText.millis(lane),
                lane <= 100));
    }
}
