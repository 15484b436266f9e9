package io.carillon.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.bench.measure.ArrivalCounter;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.FiringScheduler;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
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

/** Quartz in a cluster, in the better of two settings that were tried. */
final class Quartz implements Peer {
    private static final int THREADS = 10;
    private static final int POOL = THREADS + 5;
    private static final int BATCH = 500;
    private static final int MAX_PER_SECOND = 150;
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final String TABLES = "/org/quartz/impl/jdbcjobstore/tables_postgres.sql";
    private static final String LISTENER_KEY = "listener";
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

    /** The job of all triggers. It notifies the listener in the context of the scheduler. */
    public static final class NotifyingJob implements org.quartz.Job {
        @Override
        public void execute(JobExecutionContext context) {
            try {
                Object value = context.getScheduler().getContext().get(LISTENER_KEY);
                if (value instanceof FireListener listener) listener.onFire(context);
            } catch (SchedulerException e) {
                throw new MeasureException("Quartz has no scheduler context.", e);
            }
        }
    }

    private interface FireListener {
        void onFire(JobExecutionContext context);
    }

    @Override
    public DrainResult drain(BenchDatabase database, int jobs) throws Exception {
        ArrivalCounter arrivals = new ArrivalCounter(jobs);
        try (HikariDataSource pool = pool(database)) {
            Scheduler scheduler = scheduler(
                    pool,
                    context -> arrivals.arrived(
                            Integer.parseInt(context.getTrigger().getKey().getName())));
            store(
                    scheduler,
                    jobs,
                    number -> trigger(number).startAt(Date.from(LONG_AGO)).build());
            database.analyzeAndCheckpoint();
            CpuMeter cpu = CpuMeter.start(database.serverPid());
            scheduler.start();
            Waiting.require("The drain of Quartz", () -> arrivals.missing() == 0, TIMEOUT);
            Sql sql = new Sql(pool);
            Waiting.require(
                    "The last ending of Quartz", () -> sql.number("SELECT count(*) FROM qrtz_triggers") == 0, TIMEOUT);
            double seconds = Waiting.seconds(arrivals.firstNanos(), System.nanoTime());
            CpuMeter.Used used = cpu.used();
            scheduler.shutdown(true);
            return new DrainResult(jobs, seconds, arrivals.missing(), arrivals.duplicates(), used);
        }
    }

    @Override
    public Optional<FiringScheduler> firing(BenchDatabase database, double perSecond) {
        if (perSecond > MAX_PER_SECOND) return Optional.empty();
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
        database.analyzeAndCheckpoint();
        scheduler.start();
        return () -> {
            scheduler.shutdown(true);
            pool.close();
        };
    }

    private interface TriggerFactory {
        Trigger make(int number);
    }

    private static void store(Scheduler scheduler, int count, TriggerFactory triggerFactory) throws SchedulerException {
        JobDetail job = JobBuilder.newJob(NotifyingJob.class)
                .withIdentity("notify")
                .storeDurably()
                .build();
        for (int from = 0; from < count; from += BATCH) {
            Set<Trigger> batch = new HashSet<>();
            for (int i = from; i < Math.min(count, from + BATCH); i++) batch.add(triggerFactory.make(i));
            scheduler.scheduleJobs(Map.of(job, batch), true);
        }
    }

    private static TriggerBuilder<Trigger> trigger(int number) {
        return TriggerBuilder.newTrigger()
                .withIdentity(String.valueOf(number))
                .forJob("notify")
                .usingJobData("text", BenchPayload.TEXT);
    }

    private static HikariDataSource pool(BenchDatabase database) throws IOException {
        HikariDataSource pool = database.pool(POOL);
        try (InputStream script = Quartz.class.getResourceAsStream(TABLES)) {
            if (script == null) throw new MeasureException("The jar of Quartz does not contain " + TABLES + ".");
            new Sql(pool).execute(new String(script.readAllBytes(), StandardCharsets.UTF_8));
        }
        return pool;
    }

    private static Scheduler scheduler(HikariDataSource pool, FireListener fireListener) throws SchedulerException {
        String source = "bench-" + System.identityHashCode(pool);
        DBConnectionManager.getInstance().addConnectionProvider(source, new SharedPoolProvider(pool));
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
        // Waiting triggers in a drain are a backlog, not misfires.
        properties.put(
                "org.quartz.jobStore.misfireThreshold",
                String.valueOf(Duration.ofDays(3_650).toMillis()));
        properties.put("org.quartz.scheduler.skipUpdateCheck", "true");
        Scheduler scheduler = new StdSchedulerFactory(properties).getScheduler();
        scheduler.getContext().put(LISTENER_KEY, fireListener);
        return scheduler;
    }

    /** The pool of the benchmark, which Quartz must not close. */
    private record SharedPoolProvider(HikariDataSource pool) implements ConnectionProvider {
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
