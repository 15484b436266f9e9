package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.awaitState;

import io.carillon.Carillon;
import io.carillon.run.HandlerType;
import io.carillon.run.Limits;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The database clock is set back by an hour, and what a node remembered of the time before keeps nothing waiting. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class ClockSetBackTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final TestClock clock;
    private final House house;

    ClockSetBackTest(TestDatabase database, TestClock clock) {
        this.house = new House(database);
        this.clock = clock;
    }

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void a_lane_with_a_rate_goes_on() {
        Carillon carillon =
                house.node(builder -> builder.handle(JOB, (job, run) -> {}, options -> options.queue("limited")));
        carillon.queues().limit("limited", Limits.rate(1, Duration.ofSeconds(2)));
        awaitState(carillon, carillon.enqueue(JOB, new Job("before")).run(), RunState.SUCCEEDED);
        // The second finds the bucket empty, and the lane is shut.
        carillon.enqueue(JOB, new Job("shut"));

        clock.at(clock.now().minus(Duration.ofHours(1)));
        RunId after = carillon.enqueue(JOB, new Job("after")).run();

        awaitState(carillon, after, RunState.SUCCEEDED);
    }
}
