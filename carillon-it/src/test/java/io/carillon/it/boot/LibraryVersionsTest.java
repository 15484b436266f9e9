package io.carillon.it.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.micrometer.CarillonMeters;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.File;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A node with a schedule, runs, results and meters, and a test with a virtual clock. */
@CarillonTest
class LibraryVersionsTest {
    record Job(UUID id, Instant at, Duration took, Optional<String> note, List<String> lines) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Job VALUE = new Job(
            new UUID(1, 2),
            Instant.parse("2026-01-02T03:04:05.6Z"),
            Duration.ofMinutes(90),
            Optional.of("Zoë 😀"),
            List.of("a", "b"));

    private final TestDatabase database;
    private final CarillonKit kit;

    LibraryVersionsTest(TestDatabase database, CarillonKit kit) {
        this.database = database;
        this.kit = kit;
    }

    @AfterEach
    void clear() {
        database.clear();
        database.clock().useRealTime();
    }

    @Test
    void a_node_executes_runs_and_ticks_and_counts_them() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        CarillonMeters meters = new CarillonMeters(registry);
        try (Carillon carillon = Carillon.on(database.pool(12))
                .handleReturning(
                        JOB,
                        (job, run) -> {
                            if (run.attempt() == 1 && job.lines().isEmpty())
                                throw new IllegalStateException("first attempt");
                            return job;
                        },
                        HandlerOptions.defaults().retry(Retry.exponential(Duration.ofMillis(1))))
                .schedule("every-second", When.every(Duration.ofSeconds(1)), JOB, VALUE)
                .listener(meters)
                .start()) {
            meters.watch(carillon);
            Job retried = new Job(VALUE.id(), VALUE.at(), VALUE.took(), Optional.empty(), List.of());

            RunId run = carillon.enqueue(JOB, VALUE).run();
            RunId retriedRun =
                    carillon.enqueue(JOB, retried, Enqueue.now().uniqueKey("k")).run();

            await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
                assertThat(carillon.runs().result(run, Job.class)).contains(VALUE);
                assertThat(carillon.runs().result(retriedRun, Job.class)).contains(retried);
                // Two enqueued runs and at least one tick.
                assertThat(registry.get("carillon.runs.finished")
                                .tag("outcome", "succeeded")
                                .counter()
                                .count())
                        .isGreaterThanOrEqualTo(3);
                assertThat(registry.get("carillon.attempt.retries").counter().count())
                        .isEqualTo(1);
            });
            assertThat(carillon.isRunning()).isTrue();
            assertThat(registry.getMeters().stream().flatMap(LibraryVersionsTest::values))
                    .doesNotContain(Double.NaN);
            assertThat(registry.getMeters())
                    .extracting(meter -> meter.getId().getName())
                    .contains(
                            "carillon.run",
                            "carillon.run.wait",
                            "carillon.tick.lateness",
                            "carillon.ticks.planned",
                            "carillon.node.slots",
                            "carillon.schedule.next.run.timestamp",
                            "carillon.health.issues",
                            "carillon.db.poll",
                            "carillon.lease.expired",
                            "carillon.build.info");
        }
    }

    private static Stream<Double> values(Meter meter) {
        return Stream.of(meter.measure())
                .flatMap(all ->
                        Stream.iterate(all.iterator(), i -> i.hasNext(), i -> i).map(i -> i.next()))
                .map(Measurement::getValue);
    }

    @Test
    void a_test_drives_a_schedule_with_a_virtual_clock(TestClock clock) {
        clock.stopAt(Instant.parse("2026-03-29T00:30:00Z"));
        try (Carillon carillon = Carillon.on(database.dataSource())
                .handle(JOB, (job, run) -> {})
                .schedule("nightly", When.cron("30 2 * * *", "UTC"), JOB, VALUE)
                .build()) {
            kit.drive(carillon);

            kit.advance(Duration.ofHours(24)).runDue();

            kit.run(JOB).succeeded().onAttempt(1);
        }
    }

    @Test
    void the_class_path_has_the_expected_versions() {
        String classPath = System.getProperty("java.class.path");

        assertThat(System.getProperty("expected.jars", "").strip().split("\\s+"))
                .allSatisfy(jar ->
                        assertThat(classPath).contains(jar.isEmpty() ? File.separator : File.separator + jar + ".jar"));
    }
}
