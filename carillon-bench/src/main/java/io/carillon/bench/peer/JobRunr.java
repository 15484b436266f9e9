package io.carillon.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.bench.measure.ArrivalCounter;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.FiringScheduler;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.scheduling.JobScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.utils.mapper.JsonMapper;
import org.jobrunr.utils.mapper.jackson3.Jackson3JsonMapper;

/** JobRunr with many workers and its shortest poll interval. */
final class JobRunr implements Peer {
    private static final int WORKERS = 64;
    private static final int POOL = 40;
    private static final int POLL_SECONDS = 5;
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    // Jobs of JobRunr are static methods or beans, so they need a static counter.
    private static volatile ArrivalCounter arrivals = new ArrivalCounter(0);

    @Override
    public String name() {
        return "jobrunr";
    }

    @Override
    public String settings() {
        return "%d workers, pool %d, poll %d s".formatted(WORKERS, POOL, POLL_SECONDS);
    }

    @Override
    public int expectedPerSecond() {
        return 900;
    }

    /** The job. Public because JobRunr calls it by reflection. */
    public static final class CountingJob {
        private CountingJob() {}

        public static void run(int number, String text) {
            if (text.isEmpty()) throw new IllegalArgumentException("Job %d has no payload.".formatted(number));
            arrivals.arrived(number);
        }
    }

    @Override
    public DrainResult drain(BenchDatabase database, int jobs) {
        ArrivalCounter counted = new ArrivalCounter(jobs);
        arrivals = counted;
        try (HikariDataSource pool = database.pool(POOL);
                PostgresStorageProvider storage = new PostgresStorageProvider(pool)) {
            JsonMapper json = new Jackson3JsonMapper();
            storage.setJobMapper(new JobMapper(json));
            new JobScheduler(storage)
                    .enqueue(IntStream.range(0, jobs).boxed(), number -> CountingJob.run(number, BenchPayload.TEXT));
            settle(database);
            CpuMeter cpu = CpuMeter.start(database.serverPid());
            BackgroundJobServer server = new BackgroundJobServer(
                    storage,
                    json,
                    null,
                    BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                            .andWorkerCount(WORKERS)
                            .andPollIntervalInSeconds(POLL_SECONDS));
            try {
                server.start();
                Waiting.require("The drain of JobRunr", () -> counted.missing() == 0, TIMEOUT);
                Sql sql = new Sql(pool);
                Waiting.require(
                        "The last ending of JobRunr",
                        () -> sql.number("SELECT count(*) FROM jobrunr_jobs WHERE state <> 'SUCCEEDED'") == 0,
                        TIMEOUT);
                double seconds = Waiting.seconds(counted.firstNanos(), System.nanoTime());
                return new DrainResult(jobs, seconds, counted.missing(), counted.duplicates(), cpu.used());
            } finally {
                server.stop();
            }
        }
    }

    private static void settle(BenchDatabase database) {
        try {
            database.analyzeAndCheckpoint();
        } catch (java.sql.SQLException e) {
            throw new io.carillon.bench.measure.MeasureException("Could not prepare the database.", e);
        }
    }

    /**
     * Returns empty: JobRunr creates the jobs of its schedules once per poll, so that they are seconds late by design.
     */
    @Override
    public Optional<FiringScheduler> firing(BenchDatabase database, double perSecond) {
        return Optional.empty();
    }
}
