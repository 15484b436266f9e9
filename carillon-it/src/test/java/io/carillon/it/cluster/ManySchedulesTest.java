package io.carillon.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** More than a thousand schedules on three nodes, all due at the same instants. */
@CarillonTest(at = "2026-05-04T12:00:30Z")
class ManySchedulesTest {
    record Region(int number) {}

    private static final HandlerType<Region> REPORT = HandlerType.of("report", Region.class);
    private static final int SCHEDULES = 1_200;
    private static final int MINUTES = 2;

    private final Map<String, AtomicInteger> starts = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> perNode = new ConcurrentHashMap<>();
    private final TestDatabase database;
    private final TestClock clock;

    ManySchedulesTest(TestDatabase database, TestClock clock) {
        this.database = database;
        this.clock = clock;
    }

    @Tag("slow")
    @Test
    void three_nodes_execute_each_instant_of_twelve_hundred_schedules_once_and_share_the_work() throws Exception {
        List<Carillon> nodes = new ArrayList<>();
        try {
            for (String name : List.of("a", "b", "c")) nodes.add(node(name));
            for (int i = 0; i < SCHEDULES; i++)
                nodes.get(i % 3).schedules().upsert("s" + i, When.cron("* * * * *", "UTC"), REPORT, new Region(i));

            for (int minute = 1; minute <= MINUTES; minute++) {
                clock.stopAt(Instant.parse("2026-05-04T12:00:00Z").plus(Duration.ofMinutes(minute)));
                long expected = (long) minute * SCHEDULES;
                await().atMost(Duration.ofSeconds(60))
                        .until(() -> database.query("SELECT count(*) FROM carillon.run_history")
                                        .number()
                                == expected);
            }

            assertThat(starts).hasSize(SCHEDULES * MINUTES);
            assertThat(starts.values()).allMatch(times -> times.get() == 1);
            assertThat(database.query("SELECT count(*) FROM (SELECT schedule_id, count(DISTINCT planned_at) AS instants"
                                    + " FROM carillon.run_history"
                                    + " WHERE state = 'succeeded' AND origin = 'tick' GROUP BY 1) s"
                                    + " WHERE instants = " + MINUTES)
                            .number())
                    .isEqualTo(SCHEDULES);
            assertThat(perNode.keySet()).containsExactlyInAnyOrder("a", "b", "c");
        } finally {
            nodes.forEach(Carillon::close);
        }
    }

    private Carillon node(String name) {
        return Carillon.on(database.pool(10))
                .nodeName(name)
                .handle(REPORT, (region, run) -> {
                    starts.computeIfAbsent(run.idempotencyKey(), key -> new AtomicInteger())
                            .incrementAndGet();
                    perNode.computeIfAbsent(name, key -> new AtomicInteger()).incrementAndGet();
                })
                .start();
    }
}
