package io.carillon.bench.peer;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.CompletionHandler;
import com.github.kagkarlsson.scheduler.task.SchedulableInstance;
import com.github.kagkarlsson.scheduler.task.Task;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.bench.measure.ArrivalCounter;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.FiringScheduler;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** db-scheduler with lock-and-fetch, in the best of eight settings that were tried. */
final class DbScheduler implements Peer {
    private static final int THREADS = 50;
    private static final int POOL = THREADS + 4;
    private static final double LOWER = 0.5;
    private static final double UPPER = 10;
    private static final Duration POLL = Duration.ofMillis(100);
    private static final int BATCH = 5_000;
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    // The jar of db-scheduler contains no script. These are the columns that it reads and writes, and the two indexes
    // that its documentation requires.
    private static final String TABLE = """
            CREATE TABLE scheduled_tasks (
              task_name text NOT NULL, task_instance text NOT NULL, task_data bytea,
                execution_time timestamptz NOT NULL,
              picked boolean NOT NULL, picked_by text, last_success timestamptz, last_failure timestamptz,
                consecutive_failures int,
              last_heartbeat timestamptz, version bigint NOT NULL, priority smallint,
              PRIMARY KEY (task_name, task_instance));
            CREATE INDEX ON scheduled_tasks (execution_time);
            CREATE INDEX ON scheduled_tasks (last_heartbeat);
            """;

    @Override
    public String name() {
        return Peers.DB_SCHEDULER;
    }

    @Override
    public String settings() {
        return "lock-and-fetch, %d threads, pool %d, limits %s/%s, poll %d ms"
                .formatted(THREADS, POOL, LOWER, UPPER, POLL.toMillis());
    }

    @Override
    public int expectedPerSecond() {
        return 3_300;
    }

    @Override
    public DrainResult drain(BenchDatabase database, int jobs) throws Exception {
        ArrivalCounter arrivals = new ArrivalCounter(jobs);
        Task<String> task = Tasks.oneTime("job", String.class)
                .execute((instance, context) -> arrivals.arrived(Integer.parseInt(instance.getId())));
        try (HikariDataSource pool = database.pool(POOL)) {
            Sql sql = new Sql(pool);
            sql.execute(TABLE);
            Scheduler scheduler = scheduler(pool, task);
            storeAll(scheduler, pool, task, jobs);
            database.analyzeAndCheckpoint();
            CpuMeter cpu = CpuMeter.start(database.serverPid());
            scheduler.start();
            Waiting.require("The drain of db-scheduler", () -> arrivals.missing() == 0, TIMEOUT);
            Waiting.require(
                    "The last ending of db-scheduler",
                    () -> sql.number("SELECT count(*) FROM scheduled_tasks") == 0,
                    TIMEOUT);
            double seconds = Waiting.seconds(arrivals.firstNanos(), System.nanoTime());
            CpuMeter.Used used = cpu.used();
            scheduler.stop();
            return new DrainResult(jobs, seconds, arrivals.missing(), arrivals.duplicates(), used);
        }
    }

    private static void storeAll(Scheduler scheduler, HikariDataSource pool, Task<String> task, int jobs)
            throws SQLException {
        Instant due = now(pool).minusSeconds(1);
        for (int from = 0; from < jobs; from += BATCH) {
            List<TaskInstance<?>> batch = new ArrayList<>();
            for (int i = from; i < Math.min(jobs, from + BATCH); i++)
                batch.add(task.instance(String.valueOf(i), BenchPayload.TEXT));
            scheduler.scheduleBatch(batch, due);
        }
    }

    @Override
    public OptionalDouble bulkPerSecond(BenchDatabase database, int jobs) throws Exception {
        return enqueue(database, jobs, (scheduler, pool, task) -> storeAll(scheduler, pool, task, jobs));
    }

    @Override
    public OptionalDouble singlePerSecond(BenchDatabase database, int jobs, int threads) throws Exception {
        AtomicInteger next = new AtomicInteger();
        return enqueue(
                database,
                jobs,
                (scheduler, pool, task) -> Threads.runConcurrently(threads, () -> {
                    for (int i = next.getAndIncrement(); i < jobs; i = next.getAndIncrement())
                        scheduler.schedule(task.instance(String.valueOf(i), BenchPayload.TEXT), Instant.EPOCH);
                    return threads;
                }));
    }

    private interface EnqueueWork {
        void run(Scheduler scheduler, HikariDataSource pool, Task<String> task) throws Exception;
    }

    private static OptionalDouble enqueue(BenchDatabase database, int jobs, EnqueueWork work) throws Exception {
        Task<String> task = Tasks.oneTime("job", String.class).execute((instance, context) -> {});
        try (HikariDataSource pool = database.pool(POOL)) {
            new Sql(pool).execute(TABLE);
            Scheduler scheduler = scheduler(pool, task);
            long start = System.nanoTime();
            work.run(scheduler, pool, task);
            return OptionalDouble.of(jobs / Waiting.seconds(start, System.nanoTime()));
        }
    }

    @Override
    public Optional<FiringScheduler> firing(BenchDatabase database, double perSecond) {
        return Optional.of((plan, first, fired) -> fire(database, plan, first, fired));
    }

    private static AutoCloseable fire(BenchDatabase database, FirePlan plan, Instant first, Consumer<Instant> fired)
            throws SQLException {
        Task<Void> task = Tasks.custom("fire", Void.class).execute((instance, context) -> {
            Instant planned = context.getExecution().getExecutionTime();
            fired.accept(planned);
            CompletionHandler<Void> again =
                    (complete, operations) -> operations.reschedule(complete, planned.plus(plan.period()));
            return again;
        });
        HikariDataSource pool = database.pool(POOL);
        new Sql(pool).execute(TABLE);
        Scheduler scheduler = scheduler(pool, task);
        List<SchedulableInstance<?>> batch = new ArrayList<>();
        for (int i = 0; i < plan.schedules(); i++) {
            batch.add(SchedulableInstance.of(task.instance(String.valueOf(i)), plan.phase(first, i)));
            if (batch.size() == BATCH || i == plan.schedules() - 1) {
                scheduler.scheduleBatch(batch);
                batch.clear();
            }
        }
        database.analyzeAndCheckpoint();
        scheduler.start();
        return () -> {
            scheduler.stop();
            pool.close();
        };
    }

    private static Scheduler scheduler(HikariDataSource pool, Task<?> task) {
        return Scheduler.create(pool, task)
                .threads(THREADS)
                .pollUsingLockAndFetch(LOWER, UPPER)
                .pollingInterval(POLL)
                .build();
    }

    private static Instant now(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            return ServerTime.on(connection).now();
        }
    }
}
