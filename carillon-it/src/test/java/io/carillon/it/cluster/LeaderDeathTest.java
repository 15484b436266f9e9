package io.carillon.it.cluster;

import static io.carillon.it.cluster.ClusterNode.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.NodeConfig.Planning;
import io.carillon.it.cluster.ClusterNode.Work;
import io.carillon.schedule.When;
import io.carillon.testkit.HistoryChecker;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The node that holds the planning token is killed. */
class LeaderDeathTest {
    private static final String HOLDER = """
            SELECT coalesce((SELECT n.name FROM carillon.leader_token t JOIN carillon.node n ON n.id = t.owner
              WHERE t.name = 'planning'), '-')
            """;

    // The first lease of a new holder ends three seconds after the holder took the planning token.
    private static final String TAKEN = """
            SELECT extract(epoch FROM expires_at - interval '3 s' - ?::timestamptz) FROM carillon.leader_token
              WHERE name = 'planning' AND epoch > ?::bigint
            """;

    @Tag("slow")
    @Test
    void another_node_plans_within_five_seconds_and_no_instant_is_lost() {
        try (Cluster cluster = new Cluster(Duration.ofMillis(200), Duration.ofMillis(1_500), 2, Planning.LEADER)) {
            cluster.client.schedules().upsert("tick", When.every(Duration.ofSeconds(1)), WORK, new Work(1));
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> cluster.query(HOLDER).text().startsWith("node-"));
            String leader = cluster.query(HOLDER).text();
            String epoch = cluster.query("SELECT epoch FROM carillon.leader_token WHERE name = 'planning'")
                    .text();

            cluster.kill(leader);
            String killed = cluster.query("SELECT clock_timestamp()").text();
            String seconds = await().atMost(Duration.ofSeconds(30))
                    .pollInterval(Duration.ofMillis(50))
                    .until(() -> cluster.query(TAKEN, killed, epoch).rows(), rows -> !rows.isEmpty())
                    .get(0)
                    .get(0);

            assertThat(Double.parseDouble(seconds))
                    .as("seconds from the kill of %s to the next leader", leader)
                    .isLessThanOrEqualTo(5.0);
            String cursor =
                    cluster.query("SELECT cursor FROM carillon.schedule").text();
            await().atMost(Duration.ofSeconds(90))
                    .until(() -> cluster.query(
                                            "SELECT count(*) FROM carillon.schedule WHERE cursor > ?::timestamptz",
                                            cursor)
                                    .number()
                            == 1);
            assertThat(cluster.query("""
                            SELECT count(*) FROM (SELECT planned_at - lag(planned_at) OVER (ORDER BY planned_at) AS step
                                                    FROM (SELECT planned_at FROM carillon.run WHERE origin = 'tick'
                                                          UNION ALL SELECT planned_at FROM carillon.run_history
                                                            WHERE origin = 'tick') all_ticks) s
                             WHERE step <> interval '1 s'""").number())
                    .as("instants without a tick or with two ticks")
                    .isZero();
            assertThat(HistoryChecker.check(cluster.history())).isEmpty();
        }
    }
}
