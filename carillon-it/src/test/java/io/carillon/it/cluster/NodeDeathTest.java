package io.carillon.it.cluster;

import static io.carillon.it.cluster.ClusterNode.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.it.cluster.ClusterNode.Work;
import io.carillon.run.EnqueueResult;
import io.carillon.schedule.When;
import io.carillon.testkit.History.FailoverTimes;
import io.carillon.testkit.HistoryChecker;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Killed and frozen nodes, with default and with short heartbeat settings; all times come from the database clock. */
class NodeDeathTest {
    private static final String LEDGER_HOLES = """
            SELECT count(*) FROM (
              SELECT planned_at - lag(planned_at) OVER (PARTITION BY schedule_id ORDER BY planned_at) AS step
                FROM carillon.run_history WHERE origin = 'tick') steps
             WHERE step <> interval '1 second'
            """;
    private static final String SECONDS_UNTIL_RESTART = """
            SELECT extract(epoch FROM next.at - killed.at)
              FROM side_log lost
              JOIN side_log killed ON killed.event = 'killed ' || ?
              JOIN side_log next ON next.run = lost.run AND next.event = 'started' AND next.attempt > lost.attempt
             WHERE lost.event = 'started' AND lost.node = ? ORDER BY 1
            """;
    private static final String DUPLICATE_TICKS = """
            SELECT count(*) FROM (SELECT schedule_id, planned_at FROM carillon.run_history WHERE origin = 'tick'
                                   GROUP BY schedule_id, planned_at HAVING count(*) > 1) doubled
            """;

    @Tag("slow")
    @RepeatedTest(3)
    void all_runs_of_a_killed_node_start_again_on_nodes_with_free_slots_within_15_seconds() {
        try (Cluster cluster = new Cluster(Duration.ofSeconds(2), Duration.ofSeconds(10), 3)) {
            // The two others take none of the runs, and have 100 free slots when the first node dies.
            for (String idle : List.of("node-2", "node-3")) cluster.node(idle).freeze();
            for (int i = 0; i < 45; i++) cluster.client.enqueue(WORK, new Work(5_000));
            await().atMost(Duration.ofSeconds(5))
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> cluster.query("SELECT count(*) FROM side_log WHERE node = 'node-1'")
                                    .number()
                            == 45);
            for (String idle : List.of("node-2", "node-3")) cluster.node(idle).resume();
            cluster.kill("node-1");

            await().atMost(Duration.ofMinutes(3))
                    .until(() -> cluster.query("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                                    .number()
                            == 45);
            List<Double> again = cluster.query(SECONDS_UNTIL_RESTART, "node-1", "node-1").rows().stream()
                    .map(row -> Double.parseDouble(row.get(0)))
                    .toList();
            System.out.printf(
                    "declared dead %s s after the kill, its runs started again after %s s%n",
                    cluster.query("SELECT round(extract(epoch FROM n.dead_at - k.at), 1)"
                                    + " FROM carillon.node n, side_log k"
                                    + " WHERE n.name = 'node-1' AND k.event = 'killed node-1'")
                            .text(),
                    again);
            assertThat(again)
                    .hasSize(45)
                    .allSatisfy(seconds -> assertThat(seconds).isLessThanOrEqualTo(15));
        }
    }

    @Test
    void a_killed_node_loses_no_run_and_other_nodes_take_over_within_15_seconds() {
        try (Cluster cluster = new Cluster(Duration.ofSeconds(2), Duration.ofSeconds(10), 3)) {
            for (int i = 0; i < 5; i++)
                cluster.client.schedules().upsert("tick-" + i, When.every(Duration.ofSeconds(1)), WORK, new Work(5));
            EnqueueResult longRun = cluster.client.enqueue(WORK, new Work(6_000));
            String run = longRun.run().toString();
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> cluster.query("SELECT count(*) FROM side_log WHERE run = ? AND event = 'started'", run)
                                    .number()
                            == 1);
            String victim = cluster.query("SELECT node FROM side_log WHERE run = ? AND event = 'started'", run)
                    .text();

            cluster.kill(victim);
            String killed = cluster.query("SELECT clock_timestamp()").text();
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> cluster.query("SELECT count(*) FROM side_log WHERE run = ? AND event = 'done'", run)
                                    .number()
                            == 1);
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> cluster.query(
                                            "SELECT count(*) FROM carillon.run_history"
                                                    + " WHERE id = ?::uuid AND state = 'succeeded'",
                                            uuid(longRun))
                                    .number()
                            == 1);

            List<String> crash = cluster.query(
                            "SELECT extract(epoch FROM ended_at - ?::timestamptz), outcome FROM carillon.attempt"
                                    + " WHERE run_id = ?::uuid",
                            killed,
                            uuid(longRun))
                    .rows()
                    .get(0);
            assertThat(crash.get(1)).isEqualTo("crashed");
            double restarted = Double.parseDouble(cluster.query(
                            "SELECT extract(epoch FROM at - ?::timestamptz) FROM side_log"
                                    + " WHERE run = ? AND event = 'started'"
                                    + " ORDER BY at DESC LIMIT 1",
                            killed,
                            run)
                    .text());
            assertThat(restarted).as("seconds from the kill to the next start").isLessThanOrEqualTo(15.0);
            assertThat(cluster.query(
                                    "SELECT failures || ' ' || attempt FROM carillon.run_history WHERE id = ?::uuid",
                                    uuid(longRun))
                            .text())
                    .as("failures and attempt: a node death is not a failure")
                    .isEqualTo("0 2");
            double latest = Double.parseDouble(cluster.query(
                            "SELECT coalesce(max(extract(epoch FROM started_at - planned_at)), 99)"
                                    + " FROM carillon.run_history"
                                    + " WHERE origin = 'tick' AND planned_at > ?::timestamptz",
                            killed)
                    .text());
            assertThat(latest)
                    .as("lateness in seconds of instants after the kill")
                    .isLessThanOrEqualTo(5.0);
            everyInstantHasExactlyOneRun(cluster);
            assertThat(HistoryChecker.check(cluster.finalHistory()
                            .expectFailover(
                                    new FailoverTimes(Duration.ofSeconds(15), Optional.of(Duration.ofSeconds(5))))))
                    .isEmpty();
        }
    }

    @Tag("slow")
    @Test
    void the_result_of_a_frozen_node_that_resumes_is_rejected_and_the_node_restarts_with_a_new_id() {
        try (Cluster cluster = new Cluster(Duration.ofMillis(200), Duration.ofMillis(1_500), 3)) {
            cluster.client.schedules().upsert("tick", When.every(Duration.ofSeconds(1)), WORK, new Work(5));
            EnqueueResult frozen = cluster.client.enqueue(WORK, new Work(3_000));
            String run = frozen.run().toString();
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> cluster.query("SELECT count(*) FROM side_log WHERE run = ? AND event = 'started'", run)
                                    .number()
                            == 1);
            String victim = cluster.query("SELECT node FROM side_log WHERE run = ? AND event = 'started'", run)
                    .text();

            cluster.freeze(victim);
            await().atMost(Duration.ofSeconds(30))
                    .until(() ->
                            cluster.query("SELECT count(*) FROM carillon.run_history WHERE id = ?::uuid", uuid(frozen))
                                            .number()
                                    == 1);
            cluster.node(victim).resume();
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> cluster.query(
                                            "SELECT count(*) FROM carillon.node WHERE name = ? AND dead_at IS NULL",
                                            victim)
                                    .number()
                            == 1);

            assertThat(cluster.query(
                                    "SELECT state, attempt, failures FROM carillon.run_history WHERE id = ?::uuid",
                                    uuid(frozen))
                            .rows())
                    .containsExactly(List.of("succeeded", "2", "0"));
            assertThat(cluster.query("SELECT count(*) FROM carillon.node WHERE name = ?", victim)
                            .number())
                    .as("node ids of the frozen node")
                    .isGreaterThanOrEqualTo(2);
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> cluster.query(
                                            "SELECT count(*) FROM side_log WHERE run = ? AND attempt = 1"
                                                    + " AND event <> 'started'",
                                            run)
                                    .number()
                            == 1);
            assertThat(cluster.query("SELECT count(*) FROM carillon.run_history WHERE id = ?::uuid", uuid(frozen))
                            .number())
                    .isEqualTo(1);
            everyInstantHasExactlyOneRun(cluster);
            assertThat(HistoryChecker.check(cluster.finalHistory())).isEmpty();
        }
    }

    @Tag("slow")
    @Test
    void a_node_frozen_for_less_than_its_lease_keeps_its_runs() {
        try (Cluster cluster = new Cluster(Duration.ofMillis(200), Duration.ofSeconds(6), 2)) {
            EnqueueResult job = cluster.client.enqueue(WORK, new Work(500));
            String run = job.run().toString();
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> cluster.query("SELECT count(*) FROM side_log WHERE run = ?", run)
                                    .number()
                            == 1);
            String victim = cluster.query("SELECT node FROM side_log WHERE run = ? AND event = 'started'", run)
                    .text();

            cluster.node(victim).freeze();
            cluster.query("SELECT pg_sleep(2)").text();
            cluster.node(victim).resume();
            await().atMost(Duration.ofSeconds(20))
                    .until(() ->
                            cluster.query("SELECT count(*) FROM carillon.run_history WHERE id = ?::uuid", uuid(job))
                                            .number()
                                    == 1);

            assertThat(cluster.query(
                                    "SELECT state, attempt, crashes FROM carillon.run_history WHERE id = ?::uuid",
                                    uuid(job))
                            .rows())
                    .containsExactly(List.of("succeeded", "1", "0"));
            assertThat(cluster.query("SELECT node, event FROM side_log WHERE run = ? ORDER BY at", run)
                            .rows())
                    .containsExactly(List.of(victim, "started"), List.of(victim, "done"));
            assertThat(cluster.query("SELECT count(*) FROM carillon.node WHERE dead_at IS NULL")
                            .number())
                    .as("node ids, all alive")
                    .isEqualTo(
                            cluster.query("SELECT count(*) FROM carillon.node").number())
                    .isEqualTo(2);
            assertThat(HistoryChecker.check(cluster.finalHistory())).isEmpty();
        }
    }

    private static void everyInstantHasExactlyOneRun(Cluster cluster) {
        // Wait until the current ticks have ended; otherwise the newest instants look like gaps.
        cluster.client
                .schedules()
                .list()
                .forEach(schedule -> cluster.client.schedules().pause(schedule.name()));
        await().atMost(Duration.ofSeconds(30))
                .until(() -> cluster.query("SELECT count(*) FROM carillon.run WHERE origin = 'tick'")
                                .number()
                        == 0);
        assertThat(cluster.query(DUPLICATE_TICKS).number())
                .as("instants that ran twice")
                .isZero();
        assertThat(cluster.query(LEDGER_HOLES).number())
                .as("instants without an entry")
                .isZero();
        assertThat(cluster.query("SELECT count(*) FROM carillon.run_history"
                                + " WHERE origin = 'tick' AND state = 'succeeded'")
                        .number())
                .isGreaterThanOrEqualTo(3);
    }

    private static String uuid(EnqueueResult result) {
        return result.run().value().toString();
    }
}
