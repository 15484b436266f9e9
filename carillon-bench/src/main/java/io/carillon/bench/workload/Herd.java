package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Pace;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.ours.Job;
import io.carillon.bench.ours.OurDrain;
import io.carillon.bench.ours.OurSchedules;
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

/** Very many schedules due at one instant, while other lanes have single runs due within the same second. */
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

    /** Milliseconds from due to start, by due instant of the herd, and of all runs of other lanes. */
    private record Late(Map<Instant, Queue<Double>> herds, Map<Instant, Queue<Double>> others) {
        void started(Job job, RunContext run, ServerTime time) {
            Instant due = run.dueAt();
            double millis = (time.nanos() - ServerTime.nanos(due)) / 1e6;
            boolean herd = run.plannedAt().isPresent();
            // Number k of a lane belongs to the herd that fell due k steps before it.
            Instant key = herd ? due : due.minus(BETWEEN_LANES.multipliedBy(job.number()));
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
    public Findings run(Stage stage) throws Exception {
        int schedules = stage.profile().pick(500, 20_000, 20_000);
        int herds = stage.rounds() + 1;
        Duration period = Duration.ofSeconds(stage.profile().pick(2, 12, 20));
        Findings findings = new Findings();
        Late late = new Late(new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
        try (BenchDatabase database = stage.server().migrated();
                HikariDataSource pool = database.pool(OurDrain.POOL);
                Connection clock = database.connect()) {
            ServerTime time = ServerTime.on(clock);
            Instant first =
                    time.now().plusSeconds(stage.profile().pick(3, 15, 15)).truncatedTo(ChronoUnit.SECONDS);
            stage.progress().say("storing %d schedules".formatted(schedules));
            store(database, pool, OurSchedules.Copies.herd(schedules, period, first, herds), herds);
            List<Instant> instants = new ArrayList<>();
            for (int i = 0; i < herds; i++) instants.add(first.plus(period.multipliedBy(i)));
            try (Carillon node = Carillon.on(pool)
                    .handle(Job.TYPE, (job, run) -> late.started(job, run, time))
                    .start()) {
                node.health();
                for (Instant herd : instants) {
                    await(stage, time, clock, herd);
                    Pace.require(
                            "The herd at " + herd,
                            () -> Late.count(late.herds, herd) >= schedules && Late.count(late.others, herd) >= LANES,
                            Duration.ofSeconds(60));
                }
            }
        }
        rows(findings, late, instants(first(late), period, herds), schedules);
        return findings;
    }

    private static Instant first(Late late) {
        return late.herds.keySet().stream().min(Instant::compareTo).orElseThrow();
    }

    private static List<Instant> instants(Instant first, Duration period, int herds) {
        List<Instant> instants = new ArrayList<>();
        for (int i = 0; i < herds; i++) instants.add(first.plus(period.multipliedBy(i)));
        return instants;
    }

    private static void store(BenchDatabase database, HikariDataSource pool, OurSchedules.Copies copies, int herds)
            throws Exception {
        try (Carillon desk =
                Carillon.on(pool).handle(Job.TYPE, (job, run) -> {}).build()) {
            for (Instant herd : instants(copies.first(), period(copies), herds))
                for (int k = 0; k < LANES; k++)
                    desk.enqueue(
                            Job.TYPE,
                            Job.of(k),
                            Enqueue.at(herd.plus(BETWEEN_LANES.multipliedBy(k))).queue("lane-" + k));
            OurSchedules.store(database, desk, copies);
        }
    }

    private static Duration period(OurSchedules.Copies copies) {
        Instant second = copies.when().next(copies.first()).orElse(copies.first());
        return Duration.between(copies.first(), second);
    }

    private static void await(Stage stage, ServerTime time, Connection clock, Instant herd) throws Exception {
        stage.progress().say("waiting for the herd at " + herd);
        while (time.now().isBefore(herd.minusSeconds(1))) {
            Pace.sleep(Duration.ofMillis(200));
            if (time.now().isAfter(herd)) throw new MeasureException("The herd at " + herd + " was missed.");
        }
        time.askAgain(clock);
    }

    /** The first herd warms up. */
    private static void rows(Findings findings, Late late, List<Instant> instants, int schedules) {
        List<Double> lasts = new ArrayList<>();
        List<Double> lanes = new ArrayList<>();
        boolean once = true;
        for (Instant herd : instants.subList(1, instants.size())) {
            Samples herdLate = Late.of(late.herds, herd);
            Samples laneLate = Late.of(late.others, herd);
            once &= herdLate.size() == schedules && laneLate.size() == LANES;
            lasts.add(herdLate.most());
            lanes.add(laneLate.most());
            findings.figure("last of the herd, ms", herdLate.most());
            findings.figure("median of the herd, ms", herdLate.median());
            findings.figure("latest of another lane, ms", laneLate.most());
        }
        double last = Samples.of(lasts).median();
        double lane = Samples.of(lanes).median();
        findings.add(Row.judged(
                "%,d schedules at one instant".formatted(schedules),
                "all once, within 1.0 s",
                (once ? "all once" : "NOT all once") + ", last after " + Text.millis(last),
                once && last <= 1_000));
        findings.add(Row.judged(
                "%d other lanes meanwhile".formatted(LANES),
                "none later than 100 ms",
                "latest " + Text.millis(lane),
                lane <= 100));
    }
}
