package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.ours.CarillonRestServer;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.schedule.NewSchedule;
import io.carillon.schedule.When;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Measures how fast schedules are created: one by one, together through the API, and together over REST. */
final class ScheduleCreation implements Workload {
    private static final int CHUNK = 1_000;
    private static final Duration PERIOD = Duration.ofHours(1);
    private static final double BAR = 10_000;

    @Override
    public String name() {
        return "schedules";
    }

    @Override
    public String about() {
        return "creating schedules: one by one, 1,000 at a time, and 1,000 at a time over REST";
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        int singles = context.profile().choose(20, 1_000, 3_000);
        int many = context.profile().choose(1, 20, 50) * CHUNK;
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        for (int round = context.firstRound(); round <= context.rounds(); round++) {
            context.progress().report("round %d of %d".formatted(round, context.rounds()));
            Map<String, Double> found = round(context, singles, many);
            if (round > 0)
                found.forEach((name, rate) ->
                        rates.computeIfAbsent(name, n -> new ArrayList<>()).add(rate));
        }
        Findings findings = new Findings();
        rates.forEach((name, found) -> {
            found.forEach(rate -> findings.figure(name + ", per second", rate));
            double median = Samples.of(found).median();
            String text = FigureText.rate(Samples.of(found));
            findings.add(
                    name.equals("one by one")
                            ? Row.info(name, text, "")
                            : Row.judged(name, ">= 10,000/s", text, median >= BAR));
        });
        return findings;
    }

    private static Map<String, Double> round(WorkloadContext context, int singles, int many) throws Exception {
        Map<String, Double> found = new LinkedHashMap<>();
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(CarillonDrain.POOL);
                Carillon carillon = Carillon.on(pool).build()) {
            database.analyzeAndCheckpoint();
            found.put(
                    "one by one",
                    rate(singles, number -> carillon.schedules().upsertAll(List.of(schedule("single-", number)))));
            found.put(
                    "1,000 at a time",
                    CHUNK
                            * rate(
                                    many / CHUNK,
                                    chunk -> carillon.schedules()
                                            .upsertAll(IntStream.range(0, CHUNK)
                                                    .mapToObj(i -> schedule("many-", chunk * CHUNK + i))
                                                    .toList())));
        }
        try (BenchDatabase database = context.server().migrated();
                CarillonRestServer server = new CarillonRestServer(database)) {
            database.analyzeAndCheckpoint();
            found.put(
                    "1,000 at a time over REST",
                    CHUNK
                            * rate(
                                    many / CHUNK,
                                    chunk -> server.putSchedules(IntStream.range(chunk * CHUNK, (chunk + 1) * CHUNK))));
        }
        return found;
    }

    private static NewSchedule schedule(String prefix, int number) {
        return NewSchedule.of(prefix + number, When.every(PERIOD), BenchPayload.TYPE, BenchPayload.of(number));
    }

    private interface Call {
        void run(int number) throws Exception;
    }

    private static double rate(int calls, Call call) throws Exception {
        long start = System.nanoTime();
        for (int number = 0; number < calls; number++) call.run(number);
        return calls / ((System.nanoTime() - start) / 1e9);
    }
}
