package io.carillon.it.fault;

import static io.carillon.it.fault.PortFaults.When.AFTER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.internal.engine.Engine;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.store.Storage;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.NodeProcess;
import io.carillon.testkit.TestDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Nodes crash right before and right after a call of their storage takes effect. The next nodes find all runs and
 * finish each once.
 */
@CarillonTest
class CrashPointsTest {
    private static final String TICKS = "ticks";
    private static final int RUNS = 4;

    private record Crash(String point, PortFaults.When when, String handler) {}

    private final List<Crash> workerCrashes = new ArrayList<>();
    private final List<Crash> rescuerCrashes = new ArrayList<>();
    private final TestDatabase database;

    CrashPointsTest(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void clear() {
        database.clear();
        database.execute("DELETE FROM carillon.node");
    }

    private static String name(String point, PortFaults.When when) {
        return (point + "." + when).toLowerCase(java.util.Locale.ROOT);
    }

    @Test
    void the_next_nodes_finish_every_run_once_after_a_crash() throws Exception {
        addWorkerCrash("runs.claim", AFTER, "");
        addWorkerCrash("runs.apply", AFTER, "retry.");
        addWorkerCrash("newRuns.enqueue", AFTER, "");
        rescuerCrashes.add(new Crash("nodes.rescue", AFTER, "none"));
        crashAndFinish();
    }

    @Test
    @Tag("slow")
    void the_next_nodes_finish_every_run_once_after_a_crash_at_any_point() throws Exception {
        for (PortFaults.When when : PortFaults.When.values()) {
            for (String point : List.of(
                    "runs.claim", "runs.apply", "plans.write", "newRuns.enqueue", "nodes.register", "gates.promote"))
                addWorkerCrash(point, when, "");
            addWorkerCrash("runs.apply", when, "retry.");
            for (String point : List.of("nodes.declareDead", "nodes.rescue"))
                rescuerCrashes.add(new Crash(point, when, "none"));
        }
        crashAndFinish();
    }

    private void addWorkerCrash(String point, PortFaults.When when, String prefix) {
        workerCrashes.add(new Crash(point, when, prefix + name(point, when)));
    }

    private void crashAndFinish() throws Exception {
        DataSource source = database.pool(12);
        try (Storage storage = new PostgresStorage(source, CrashNode.PLANNER)) {
            storage.schedules().upsert(everySecond());
            for (Crash crash : workerCrashes) {
                if (crash.point().startsWith("runs.")) storage.newRuns().enqueue(CrashNode.runs(crash.handler(), RUNS));
                if (crash.point().startsWith("gates."))
                    storage.newRuns().enqueue(CrashNode.gatedRuns(crash.handler(), RUNS));
            }
            List<String> unsure = crash(workerCrashes);
            // These nodes detect the dead nodes of the first group, and crash while they declare them dead or rescue
            // their runs.
            crash(rescuerCrashes);

            List<String> handlers = new ArrayList<>(List.of(TICKS));
            workerCrashes.forEach(crash -> handlers.add(crash.handler()));
            try (Engine survivor = CrashNode.engine(storage, source, "survivor", handlers)) {
                survivor.start();
                await().atMost(Duration.ofSeconds(40))
                        .until(() -> database.query("SELECT id::text FROM carillon.run WHERE origin = 'direct'")
                                .texts()
                                .isEmpty());
                await().atMost(Duration.ofSeconds(40))
                        .until(() -> database.query("SELECT 1::text FROM carillon.node WHERE dead_at IS NULL")
                                        .texts()
                                        .size()
                                == 1);
            }
            checkOutcome(unsure);
        }
    }

    /** Starts a process for each crash, waits until all have crashed, and returns the runs they enqueued. */
    private List<String> crash(List<Crash> crashes) {
        List<NodeProcess> nodes = new ArrayList<>();
        try {
            for (Crash crash : crashes)
                nodes.add(NodeProcess.start(
                        CrashNode.class,
                        database.jdbcUrl(),
                        database.user(),
                        database.password(),
                        crash.point(),
                        crash.when().name(),
                        crash.handler()));
            for (int i = 0; i < nodes.size(); i++) {
                NodeProcess node = nodes.get(i);
                await(crashes.get(i) + " crashed")
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> !node.isAlive());
            }
            return nodes.stream()
                    .flatMap(node -> node.lines().stream())
                    .filter(line -> line.startsWith("enqueues "))
                    .toList();
        } finally {
            nodes.forEach(NodeProcess::close);
        }
    }

    private void checkOutcome(List<String> unsure) throws SQLException {
        assertThat(unsure).as("nodes that crashed during an enqueue").hasSize((int) workerCrashes.stream()
                .filter(crash -> crash.point().startsWith("newRuns."))
                .count());
        List<String> ended = database.query("SELECT target_name || ' ' || state || ' ' || failures || ' ' || crashes"
                        + " FROM carillon.run_history WHERE origin = 'direct'")
                .texts();
        List<String> expected = new ArrayList<>();
        for (Crash crash : workerCrashes) {
            int failures = crash.handler().startsWith("retry") ? 1 : 0;
            int runs = crash.point().startsWith("runs.") || crash.point().startsWith("gates.") ? RUNS : 0;
            if (crash.point().equals("newRuns.enqueue") && crash.when() == PortFaults.When.AFTER) runs = 1;
            for (int i = 0; i < runs; i++) expected.add(crash.handler() + " succeeded " + failures + " 0");
        }
        assertThat(ended).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(database.query("SELECT id::text FROM carillon.run_history GROUP BY id HAVING count(*) > 1")
                        .texts())
                .isEmpty();
        assertThat(database.query("""
                        SELECT planned_at::text FROM (
                          SELECT planned_at, planned_at - lag(planned_at) OVER (ORDER BY planned_at) AS step
                            FROM (SELECT planned_at FROM carillon.run WHERE origin = 'tick'
                                  UNION ALL SELECT planned_at FROM carillon.run_history
                                    WHERE origin = 'tick') ticks) steps
                         WHERE step <> interval '1 second'
                        """).texts())
                .as("instants that are missing or there twice")
                .isEmpty();
        assertThat(database.query("SELECT id::text FROM carillon.run_history WHERE origin = 'tick'"
                                + " AND state = 'succeeded'")
                        .texts())
                .hasSizeGreaterThan(3);
    }

    private static ScheduleDefinition everySecond() {
        NewRun like = CrashNode.run(TICKS);
        return new ScheduleDefinition(
                "default",
                "every-second",
                When.every(Duration.ofSeconds(1)),
                new ScheduleDefinition.RunTemplate(
                        "default", 1, "handler", TICKS, like.payload().bytes(), "json"),
                SchedulePolicies.defaults());
    }
}
