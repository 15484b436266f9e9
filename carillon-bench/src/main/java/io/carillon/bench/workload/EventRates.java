package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.FireMeter;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.EventFiring;
import io.carillon.bench.raw.RawEventCopy;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.event.EventPattern;
import io.carillon.event.EventType;
import io.carillon.event.NewEvent;
import io.carillon.event.Subscribe;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.event.Topic;
import io.carillon.run.HandlerType;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** Measures events: publishing, delivery beside an enqueue, schedules that publish an event, and a relay to Kafka. */
final class EventRates implements Workload {
    private static final int CHUNK = 10_000;
    private static final int THREADS = 8;
    private static final EventType<String> PLACED = Topic.named("orders").event("order.placed", String.class);
    private static final HandlerType<String> PLAIN = HandlerType.of("plain", String.class);

    @Override
    public String name() {
        return "events";
    }

    @Override
    public String about() {
        return "publishing in bulk and single with 0, 1 and 1,000 subscriptions; delivery; ticks that publish; Kafka";
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        Findings findings = new Findings();
        bulk(context, findings);
        for (int subscriptions : List.of(0, 1, 1_000)) singles(context, findings, subscriptions);
        latency(context, findings);
        backlog(context, findings);
        ticks(context, findings);
        schedules(context, findings);
        RelayRates.measure(context, findings);
        return findings;
    }

    private static List<NewEvent<String>> events(int from, int to) {
        return IntStream.range(from, to)
                .<NewEvent<String>>mapToObj(i -> PLACED.of("" + i).key("k" + i % 1_000))
                .toList();
    }

    private static void bulk(WorkloadContext context, Findings findings) throws Exception {
        int rows = context.profile().choose(2_000, 100_000, 300_000);
        List<Double> ours = new ArrayList<>();
        List<Double> copy = new ArrayList<>();
        for (int round = context.firstRound(); round <= context.rounds(); round++) {
            context.progress().report("bulk, round %d of %d".formatted(round, context.rounds()));
            double raw;
            double own;
            try (BenchDatabase database = context.server().migrated()) {
                database.analyzeAndCheckpoint();
                raw = rows / RawEventCopy.store(database, rows);
            }
            try (BenchDatabase database = context.server().migrated();
                    HikariDataSource pool = database.pool(4);
                    Carillon carillon = Carillon.on(pool).build()) {
                database.analyzeAndCheckpoint();
                long start = System.nanoTime();
                for (int from = 0; from < rows; from += CHUNK)
                    carillon.events().publishAll(events(from, Math.min(rows, from + CHUNK)));
                own = rows / ((System.nanoTime() - start) / 1e9);
            }
            if (round == 0) continue;
            copy.add(raw);
            ours.add(own);
            findings.figure("COPY, per second", raw);
            findings.figure("bulk, per second", own);
        }
        double part = Samples.of(ours).median() / Samples.of(copy).median();
        findings.add(Row.judged("bulk against COPY", ">= 60 %", FigureText.percent(part), part >= 0.6)
                .note("calls of 10,000 on one thread"));
        findings.add(Row.info("bulk", FigureText.rate(Samples.of(ours)), ""));
        findings.add(Row.info("COPY into the same table", FigureText.rate(Samples.of(copy)), "10,000 rows per commit"));
    }

    private static void singles(WorkloadContext context, Findings findings, int subscriptions) throws Exception {
        Duration time = Duration.ofMillis(context.profile().choose(200, 2_000, 5_000));
        List<Double> rates = new ArrayList<>();
        for (int round = context.firstRound(); round <= context.rounds(); round++) {
            context.progress().report("%d subscriptions, round %d".formatted(subscriptions, round));
            try (BenchDatabase database = context.server().migrated();
                    HikariDataSource pool = database.pool(THREADS + 4);
                    Carillon carillon = Carillon.on(pool).build()) {
                for (int i = 0; i < subscriptions; i++)
                    carillon.events()
                            .subscribe(SubscriptionDefinition.of(
                                    "s" + i,
                                    EventPattern.topic("orders"),
                                    new SubscriptionTarget.Handler("s" + i),
                                    Subscribe.inOrder()));
                database.analyzeAndCheckpoint();
                double rate = perSecond(carillon, time);
                if (round == 0) continue;
                rates.add(rate);
                findings.figure("publish, %d subscriptions".formatted(subscriptions), rate);
            }
        }
        findings.add(Row.info(
                "publish, %d subscriptions".formatted(subscriptions),
                FigureText.rate(Samples.of(rates)),
                "%d threads, a transaction for each event".formatted(THREADS)));
    }

    private static double perSecond(Carillon carillon, Duration time) {
        AtomicInteger number = new AtomicInteger();
        return Threads.runConcurrently(THREADS, () -> {
                    int turns = 0;
                    long start = System.nanoTime();
                    while (System.nanoTime() - start < time.toNanos()) {
                        int one = number.incrementAndGet();
                        carillon.publish(PLACED.of("" + one).key("k" + one % 1_000));
                        turns++;
                    }
                    return turns / ((System.nanoTime() - start) / 1e9);
                })
                .stream()
                .mapToDouble(Double::doubleValue)
                .sum();
    }

    private static void latency(WorkloadContext context, Findings findings) throws Exception {
        int count = context.profile().choose(20, 400, 2_000);
        BlockingQueue<Long> started = new LinkedBlockingQueue<>();
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(12);
                Carillon carillon = Carillon.on(pool)
                        .handle(PLAIN, (text, run) -> started.add(System.nanoTime()))
                        .subscribe(
                                "receive",
                                PLACED,
                                (event, run) -> started.add(System.nanoTime()),
                                Subscribe.inAnyOrder())
                        .start()) {
            for (int warm = 0; warm < 50; warm++) measure(started, () -> carillon.publish(PLACED.of("a")));
            List<Double> plain = new ArrayList<>();
            List<Double> events = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                plain.add(measure(started, () -> carillon.enqueue(PLAIN, "a")));
                events.add(measure(started, () -> carillon.publish(PLACED.of("a"))));
            }
            for (double percent : new double[] {50, 99}) {
                double enqueue = Samples.of(plain).percentile(percent);
                double publish = Samples.of(events).percentile(percent);
                findings.figure("enqueue to start, p%.0f ms".formatted(percent), enqueue);
                findings.figure("publish to start, p%.0f ms".formatted(percent), publish);
                findings.add(Row.info(
                        "publish to start, p%.0f".formatted(percent),
                        FigureText.millis(publish),
                        "enqueue to start: " + FigureText.millis(enqueue)));
            }
        }
    }

    private static double measure(BlockingQueue<Long> started, Runnable call) throws InterruptedException {
        // With fewer than 50 events per second, the dispatcher does not wait for more of them.
        Thread.sleep(12);
        long sent = System.nanoTime();
        call.run();
        Long at = started.poll(30, TimeUnit.SECONDS);
        if (at == null) throw new IllegalStateException("nothing started within 30 s");
        return (at - sent) / 1e6;
    }

    /** Creates the runs of a backlog for one subscription. Its queue is paused, so that no run is executed. */
    private static void backlog(WorkloadContext context, Findings findings) throws Exception {
        int rows = context.profile().choose(2_000, 50_000, 300_000);
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(12)) {
            try (Carillon client = Carillon.on(pool).build()) {
                client.events()
                        .subscribe(SubscriptionDefinition.of(
                                "receive",
                                EventPattern.topic("orders"),
                                new SubscriptionTarget.Handler("receive"),
                                Subscribe.inAnyOrder()));
                client.queues().pause("receive");
                for (int from = 0; from < rows; from += CHUNK)
                    client.events().publishAll(events(from, Math.min(rows, from + CHUNK)));
            }
            database.analyzeAndCheckpoint();
            long start = System.nanoTime();
            try (Carillon node = Carillon.on(pool).start()) {
                Waiting.require(
                        "the runs of the events",
                        () -> node.isRunning() && count(pool, "run") >= rows,
                        Duration.ofMinutes(2));
                double rate = rows / ((System.nanoTime() - start) / 1e9);
                findings.figure("runs of a backlog, per second", rate);
                findings.add(Row.info("runs of a backlog", FigureText.rate(rate), "one subscription, one node"));
            }
        }
    }

    /** Fires schedules that publish an event, from the planned instant to the start of the handler that receives it. */
    private static void schedules(WorkloadContext context, Findings findings) throws Exception {
        FirePlan plan = Fire.plan(
                context,
                context.profile().choose(100, 10_000, 10_000),
                context.profile().choose(1, 10, 10));
        try (BenchDatabase database = context.server().migrated();
                Connection clock = database.connect()) {
            FireMeter.FireResult fired = new FireMeter(clock, database.serverPid(), context.progress())
                    .measure("schedules that publish", plan, new EventFiring(database));
            Fire.figures(findings, "schedule to event", fired);
            findings.add(Row.judged(
                            "schedule to event to handler, " + FigureText.rate(plan.perSecond()),
                            "all once",
                            Fire.measured(fired, Fire.median(fired, 50), Fire.median(fired, 99)),
                            fired.missing() == 0 && fired.duplicates() == 0)
                    .note("%,d schedules".formatted(plan.schedules())));
        }
    }

    /** Drains due ticks that publish an event, and runs of a transactional handler that does the same. */
    private static void ticks(WorkloadContext context, Findings findings) throws Exception {
        int count = context.profile().choose(200, 10_000, 50_000);
        List<Double> grouped = new ArrayList<>();
        List<Double> single = new ArrayList<>();
        for (int round = context.firstRound(); round <= context.rounds(); round++) {
            context.progress().report("ticks, round %d of %d".formatted(round, context.rounds()));
            double together = drain(context, count, "carillon.publish");
            double alone = drain(context, count, PLAIN.name());
            if (round == 0) continue;
            grouped.add(together);
            single.add(alone);
            findings.figure("ticks in groups, per second", together);
            findings.figure("one transaction for each tick, per second", alone);
        }
        double rate = Samples.of(grouped).median();
        findings.add(Row.judged("ticks that publish", ">= 1000/s", FigureText.rate(Samples.of(grouped)), rate >= 1_000)
                .note("one transaction for each tick: " + FigureText.rate(Samples.of(single))));
    }

    private static double drain(WorkloadContext context, int count, String handler) throws Exception {
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(24)) {
            try (Carillon client = Carillon.on(pool).build()) {
                client.enqueueAll(
                        PLAIN, IntStream.range(0, count).mapToObj(i -> "" + i).toList());
            }
            if (!handler.equals(PLAIN.name()))
                execute(
                        database,
                        "UPDATE carillon.run SET target_name = 'carillon.publish', queue = 'carillon.publish',"
                                + " payload = "
                                + "convert_to('{\"schedule\":\"s\",\"topic\":\"orders\",\"type\":\"order.placed\","
                                + "\"codec\":\"json\",\"data\":\"MQ==\"}', 'UTF8')");
            database.analyzeAndCheckpoint();
            long start = System.nanoTime();
            try (Carillon node = publishing(pool)) {
                Waiting.require(
                        "the events of the ticks", () -> count(pool, "event_store") >= count, Duration.ofMinutes(2));
                double seconds = (System.nanoTime() - start) / 1e9;
                if (!node.isRunning()) throw new IllegalStateException("the node has stopped");
                return count / seconds;
            }
        }
    }

    private static Carillon publishing(HikariDataSource pool) {
        Carillon[] built = new Carillon[1];
        return Carillon.on(pool)
                .onBuilt(carillon -> built[0] = carillon)
                .handleInTransaction(
                        PLAIN,
                        (text, run, connection) -> built[0].in(connection).publish(PLACED.of("1")))
                .start();
    }

    private static long count(HikariDataSource pool, String table) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT count(*) FROM carillon." + table)) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static void execute(BenchDatabase database, String sql) throws SQLException {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
