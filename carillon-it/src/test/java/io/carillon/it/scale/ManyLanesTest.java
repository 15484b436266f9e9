package io.carillon.it.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.run.HandlerType;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * 200 handlers in 1,000 projects with due runs in all of their queues: how long a new run in an empty queue waits, as
 * decision 33 says.
 */
@Tag("slow")
class ManyLanesTest {
    record Job(int number) {}

    private static final int HANDLERS = 200;
    private static final int PROJECTS = 1_000;
    private static final int STARTS = 30;
    /** The position of the 95th percentile among the sorted starts. */
    private static final int P95 = (int) Math.ceil(STARTS * 0.95) - 1;

    private static final HandlerType<Job> NEW = HandlerType.of("new", Job.class);

    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload)
            SELECT 'p' || p, gen_random_uuid(), 'h' || h, 1, due, due, due::date, 'direct', 'handler', 'h' || h, 'json',
              '{"number":0}'
              FROM generate_series(1, %d) p, generate_series(1, %d) h, generate_series(1, 2) i,
                   LATERAL (SELECT carillon.clock() - random() * interval '60 s' AS due) d
            """;

    @Test
    void a_new_run_of_an_idle_project_does_not_wait_for_two_hundred_thousand_queues() throws Exception {
        assertThat(measure("new run of an idle project", 0, i -> "fresh-" + i).get(P95))
                .as("95th percentile in ms")
                .isLessThanOrEqualTo(100);
    }

    /**
     * The run waits for the next turn of its project, thus at most for one run of each project of which the node has
     * claimed runs, and not for the runs that are stored.
     */
    @Test
    void a_new_run_of_a_busy_project_waits_for_the_next_turn_of_its_project_only() throws Exception {
        assertThat(measure("new run of a busy project", STARTS, i -> "p" + (i + 1))
                        .get(P95))
                .as("95th percentile in ms")
                .isLessThanOrEqualTo(500);
    }

    /**
     * Returns the milliseconds from the enqueue of each run to its start, sorted. {@code busy} says how many of the
     * projects have other runs that wait.
     */
    private static List<Long> measure(String what, int busy, IntFunction<String> project) throws Exception {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.execute(FILL.formatted(PROJECTS, HANDLERS));
            database.execute("VACUUM ANALYZE carillon.run");
            LinkedBlockingQueue<Long> started = new LinkedBlockingQueue<>();
            AtomicInteger others = new AtomicInteger();
            CarillonBuilder builder =
                    Carillon.on(database.pool(10)).handle(NEW, (job, run) -> started.add(System.nanoTime()));
            for (int i = 1; i <= HANDLERS; i++)
                builder = builder.handle(HandlerType.of("h" + i, Job.class), (job, run) -> {
                    Thread.sleep(5);
                    others.incrementAndGet();
                });
            try (Carillon node = builder.start()) {
                await().atMost(Duration.ofMinutes(1)).until(() -> others.get() > 1_000);
                List<Long> millis = new ArrayList<>();
                List<String> projects = new ArrayList<>();
                for (int i = 0; i < STARTS; i++) {
                    projects.add(project.apply(i));
                    long from = System.nanoTime();
                    node.project(project.apply(i)).enqueue(NEW, new Job(i));
                    Long at = started.poll(30, TimeUnit.SECONDS);
                    assertThat(at).isNotNull();
                    millis.add(Duration.ofNanos(at - from).toMillis());
                    TimeUnit.MILLISECONDS.sleep(100); // spread over the intervals of polls and scans
                }
                List<Long> sorted = millis.stream().sorted().toList();
                System.out.printf(
                        "many lanes: %s starts after median=%d ms p95=%d ms highest=%d ms of %s; other runs=%d%n",
                        what, sorted.get(STARTS / 2), sorted.get(P95), sorted.get(STARTS - 1), millis, others.get());
                assertThat(others.get()).as("other queues still have runs").isLessThan(PROJECTS * HANDLERS * 2);
                assertThat(database.query(
                                        "SELECT count(DISTINCT project) FROM carillon.run"
                                                + " WHERE owner IS NULL AND project = ANY (string_to_array(?, ' '))",
                                        String.join(" ", projects))
                                .number())
                        .as("projects of the new runs that still have other runs")
                        .isEqualTo(busy);
                return sorted;
            }
        }
    }
}
