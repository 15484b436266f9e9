package io.carillon.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.Drained;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.Firing;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Pace;
import io.carillon.bench.measure.Roll;
import io.carillon.bench.ours.Job;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.function.Consumer;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

/** Quartz, clustered, in the better of two settings that were tried. */
final class Quartz implements Peer {
    private static final int THREADS = 10;
    private static final int POOL = THREADS + 5;
    private static final int BATCH = 500;
    private static final int MOST_PER_SECOND = 150;
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final String TABLES = "/org/quartz/impl/jdbcjobstore/tables_postgres.sql";
    private static final String HEARS = "hears";
    private static final Instant LONG_AGO = Instant.parse("2026-01-01T00:00:00Z");

    @Override
    public String name() {
        return "quartz";
    }

    @Override
    public String settings() {
        return "clustered, %d threads, pool %d, batch 10 within the lock, idle wait 1 s".formatted(THREADS, POOL);
    }

    @Override
    public int expectedPerSecond() {
        return 180;
    }

    /** The job of all triggers; it tells whoever listens in the scheduler's context. */
    public static final class Tell implements org.quartz.Job {
        @Override
        public void execute(JobExecutionContext context) {
            try {
                Object hears = context.getScheduler().getContext().get(HEARS);
                if (hears instanceof Hears listener) listener.hear(context);
            } catch (SchedulerException e) {
                throw new MeasureException("Quartz lost its context.", e);
            }
        }
    }

    private interface Hears {
        void hear(JobExecutionContext context);
    }

    @Override
    public Drained drain(BenchDatabase database, int jobs) throws Exception {
        Roll roll = new Roll(jobs);
        try (HikariDataSource pool = pool(database)) {
            Scheduler scheduler = scheduler(
                    pool,
                    context -> roll.here(
                            Integer.parseInt(context.getTrigger().getKey().getName())));
            store(
                    scheduler,
                    jobs,
                    number -> trigger(number).startAt(Date.from(LONG_AGO)).build());
            database.settle();
            CpuMeter cpu = CpuMeter.start(database.serverPid());
            scheduler.start();
            Pace.require("The drain of Quartz", () -> roll.missing() == 0, PATIENCE);
            Sql sql = new Sql(pool);
            Pace.require(
                    "The last ending of Quartz", () -> sql.number("SELECT count(*) FROM qrtz_triggers") == 0, PATIENCE);
            double seconds = Pace.seconds(roll.firstNanos(), System.nanoTime());
            CpuMeter.Used used = cpu.used();
            scheduler.shutdown(true);
            return new Drained(jobs, seconds, roll.missing(), roll.twice(), used);
        }
    }

    @Override
    public Optional<Firing> firing(BenchDatabase database, double perSecond) {
        if (perSecond > MOST_PER_SECOND) return Optional.empty();
        return Optional.of((plan, first, fired) -> fire(database, plan, first, fired));
    }

    private static AutoCloseable fire(BenchDatabase database, FirePlan plan, Instant first, Consumer<Instant> fired)
            throws Exception {
        HikariDataSource pool = pool(database);
        Scheduler scheduler = scheduler(
                pool, context -> fired.accept(context.getScheduledFireTime().toInstant()));
        store(
                scheduler,
                plan.schedules(),
                number -> trigger(number)
                        .startAt(Date.from(plan.phase(first, number)))
                        .withSchedule(SimpleScheduleBuilder.simpleSchedule()
                                .withIntervalInMilliseconds(plan.period().toMillis())
                                .repeatForever())
                        .build());
        database.settle();
        scheduler.start();
        return () -> {
            scheduler.shutdown(true);
            pool.close();
        };
    }

    private interface Triggers {
        Trigger make(int number);
    }

    private static void store(Scheduler scheduler, int count, Triggers triggers) throws SchedulerException {
        JobDetail job = JobBuilder.newJob(Tell.class)
                .withIdentity("tell")
                .storeDurably()
                .build();
        for (int from = 0; from < count; from += BATCH) {
            Set<Trigger> batch = new HashSet<>();
            for (int i = from; i < Math.min(count, from + BATCH); i++) batch.add(triggers.make(i));
            scheduler.scheduleJobs(Map.of(job, batch), true);
        }
    }

    private static TriggerBuilder<Trigger> trigger(int number) {
        return TriggerBuilder.newTrigger()
                .withIdentity(String.valueOf(number))
                .forJob("tell")
                .usingJobData("text", Job.TEXT);
    }

    private static HikariDataSource pool(BenchDatabase database) throws IOException {
        HikariDataSource pool = database.pool(POOL);
        try (InputStream script = Quartz.class.getResourceAsStream(TABLES)) {
            if (script == null) throw new MeasureException("Quartz' jar has no " + TABLES + ".");
            new Sql(pool).execute(new String(script.readAllBytes(), StandardCharsets.UTF_8));
        }
        return pool;
    }

    private static Scheduler scheduler(HikariDataSource pool, Hears hears) throws SchedulerException {
        String source = "bench-" + System.identityHashCode(pool);
        DBConnectionManager.getInstance().addConnectionProvider(source, new Lent(pool));
        Properties properties = new Properties();
        properties.putAll(Map.of(
                "org.quartz.scheduler.instanceName", source,
                "org.quartz.scheduler.instanceId", "AUTO",
                "org.quartz.scheduler.idleWaitTime", "1000",
                "org.quartz.scheduler.batchTriggerAcquisitionMaxCount", "10",
                "org.quartz.threadPool.threadCount", String.valueOf(THREADS),
                "org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX",
                "org.quartz.jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate",
                "org.quartz.jobStore.dataSource", source,
                "org.quartz.jobStore.isClustered", "true",
                "org.quartz.jobStore.acquireTriggersWithinLock", "true"));
        // What waits in a drain is a backlog, not a misfire.
        properties.put(
                "org.quartz.jobStore.misfireThreshold",
                String.valueOf(Duration.ofDays(3_650).toMillis()));
        properties.put("org.quartz.scheduler.skipUpdateCheck", "true");
        Scheduler scheduler = new StdSchedulerFactory(properties).getScheduler();
        scheduler.getContext().put(HEARS, hears);
        return scheduler;
    }

    /** Our pool, which Quartz must not close. */
    private record Lent(HikariDataSource pool) implements ConnectionProvider {
        @Override
        public Connection getConnection() throws SQLException {
            return pool.getConnection();
        }

        @Override
        public void initialize() {}

        @Override
        public void shutdown() {}
    }
}
