package io.carillon.it.node;

import static io.carillon.it.fixture.ApiFixture.awaitState;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.QueueLimits;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The database clock is set back by an hour: times that a node stored before do not delay later runs. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class ClockSetBackTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final TestClock clock;
    private final ApiFixture fixture;

    ClockSetBackTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void a_lane_with_a_rate_limit_continues() {
        Carillon carillon = fixture.node(builder ->
                builder.handle(JOB, (job, run) -> {}, HandlerOptions.defaults().queue("limited")));
        carillon.queues().limit("limited", QueueLimits.rate(1, Duration.ofSeconds(2)));
        awaitState(carillon, carillon.enqueue(JOB, new Job("before")).run(), RunState.SUCCEEDED);
        // The second run finds the rate bucket empty, so the node stops claiming the lane for a while.
        carillon.enqueue(JOB, new Job("held back"));

        clock.stopAt(clock.now().minus(Duration.ofHours(1)));
        RunId after = carillon.enqueue(JOB, new Job("after")).run();

        awaitState(carillon, after, RunState.SUCCEEDED);
    }
}
