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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * 200 handlers in 1,000 projects with due runs in all of their queues: a new run in an empty queue starts immediately.
 */
class ManyLanesTest {
    record Job(int number) {}

    private static final int HANDLERS = 200;
    private static final int PROJECTS = 1_000;
    private static final HandlerType<Job> NEW = HandlerType.of("new", Job.class);

    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload)
            SELECT 'p' || p, gen_random_uuid(), 'h' || h, 1, due, due, due::date, 'direct', 'handler', 'h' || h, 'json',
              '{"number":0}'
              FROM generate_series(1, %d) p, generate_series(1, %d) h, generate_series(1, 2) i,
                   LATERAL (SELECT carillon.clock() - random() * interval '60 s' AS due) d
            """;

    @Tag("slow")
    @Test
    void a_new_run_does_not_wait_for_two_hundred_thousand_queues() throws Exception {
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
                for (int i = 0; i < 30; i++) {
                    long from = System.nanoTime();
                    node.project("fresh-" + i).enqueue(NEW, new Job(i));
                    Long at = started.poll(30, TimeUnit.SECONDS);
                    assertThat(at).isNotNull();
                    millis.add(Duration.ofNanos(at - from).toMillis());
                    TimeUnit.MILLISECONDS.sleep(100); // spread over the intervals of polls and scans
                }
                int left = others.get();
                List<Long> sorted = millis.stream().sorted().toList();
                System.out.printf(
                        "many lanes: new run starts after median=%d ms highest=%d ms of %s; other runs=%d%n",
                        sorted.get(15), sorted.get(29), millis, left);
                assertThat(left).as("other queues still have runs").isLessThan(PROJECTS * HANDLERS * 2);
                assertThat(sorted.get(15)).isLessThanOrEqualTo(100);
            }
        }
    }
}
