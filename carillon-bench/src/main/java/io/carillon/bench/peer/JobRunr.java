package io.carillon.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.Drained;
import io.carillon.bench.measure.Firing;
import io.carillon.bench.measure.Pace;
import io.carillon.bench.measure.Roll;
import io.carillon.bench.ours.Job;
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

/** JobRunr with many workers and the shortest poll it allows. */
final class JobRunr implements Peer {
    private static final int WORKERS = 64;
    private static final int POOL = 40;
    private static final int POLL_SECONDS = 5;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    // Its jobs are static methods or beans; the one that counts must be found from there.
    private static volatile Roll roll = new Roll(0);

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

    /** What its jobs do; public, because it is called by reflection. */
    public static final class Count {
        private Count() {}

        public static void here(int number, String text) {
            if (text.isEmpty()) throw new IllegalArgumentException("The payload of job " + number + " is lost.");
            roll.here(number);
        }
    }

    @Override
    public Drained drain(BenchDatabase database, int jobs) {
        Roll counted = new Roll(jobs);
        roll = counted;
        try (HikariDataSource pool = database.pool(POOL);
                PostgresStorageProvider storage = new PostgresStorageProvider(pool)) {
            JsonMapper json = new Jackson3JsonMapper();
            storage.setJobMapper(new JobMapper(json));
            new JobScheduler(storage).enqueue(IntStream.range(0, jobs).boxed(), number -> Count.here(number, Job.TEXT));
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
                Pace.require("The drain of JobRunr", () -> counted.missing() == 0, PATIENCE);
                Sql sql = new Sql(pool);
                Pace.require(
                        "The last ending of JobRunr",
                        () -> sql.number("SELECT count(*) FROM jobrunr_jobs WHERE state <> 'SUCCEEDED'") == 0,
                        PATIENCE);
                double seconds = Pace.seconds(counted.firstNanos(), System.nanoTime());
                return new Drained(jobs, seconds, counted.missing(), counted.twice(), cpu.used());
            } finally {
                server.stop();
            }
        }
    }

    private static void settle(BenchDatabase database) {
        try {
            database.settle();
        } catch (java.sql.SQLException e) {
            throw new io.carillon.bench.measure.MeasureException("The database could not be settled.", e);
        }
    }

    /** It creates the jobs of its schedules once per poll: seconds of lateness by design. */
    @Override
    public Optional<Firing> firing(BenchDatabase database, double perSecond) {
        return Optional.empty();
    }
}
