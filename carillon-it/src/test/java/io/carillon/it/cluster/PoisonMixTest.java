package io.carillon.it.cluster;

import static io.carillon.it.cluster.ClusterNode.POISON;
import static io.carillon.it.cluster.ClusterNode.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.it.cluster.ClusterNode.Poison;
import io.carillon.it.cluster.ClusterNode.PoisonEffect;
import io.carillon.it.cluster.ClusterNode.Work;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import io.carillon.testkit.HistoryChecker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs that kill, overload or confuse their node, mixed with harmless runs; dead nodes are replaced. */
class PoisonMixTest {
    record Garbage(String millis) {}

    private static final HandlerType<Garbage> GARBAGE = HandlerType.of("work", Garbage.class);
    private static final HandlerType<Work> UNKNOWN = HandlerType.of("unknown.handler", Work.class);

    // The state of each kind of run: ended, or the reason why it is parked.
    private static final String OUTCOMES = """
            SELECT l.what, coalesce(h.state, r.parked), count(*)
              FROM lot l LEFT JOIN carillon.run_history h ON h.id = l.run::uuid
                LEFT JOIN carillon.run r ON r.id = l.run::uuid
             GROUP BY 1, 2 ORDER BY 1, 2
            """;
    private static final String REASONS = """
            SELECT count(*) FROM lot l JOIN carillon.run_history h ON h.id = l.run::uuid
              JOIN carillon.dead_run d ON d.id = h.id
             WHERE l.what = ? AND h.reason LIKE ? AND d.error = h.reason
            """;
    private static final String LEFT =
            "SELECT count(*) FROM carillon.run WHERE parked IS DISTINCT FROM 'no-handler' OR owner IS NOT NULL";

    private static final String KILLED =
            "SELECT round(extract(epoch FROM at - ?::timestamptz), 1) FROM side_log WHERE event LIKE 'killed %'"
                    + " ORDER BY at";

    private static final String STARTED =
            "SELECT round(extract(epoch FROM started_at - at), 1) FROM carillon.node, (SELECT ?::timestamptz AS at) f"
                    + " WHERE started_at > at ORDER BY 1";

    private static final String BY_NODE_DEATHS =
            "SELECT node_deaths, count(*) FROM carillon.run_history WHERE target_name = 'work' GROUP BY 1 ORDER BY 1";

    @Tag("slow")
    @Test
    void a_few_bad_runs_affect_no_others() {
        mix(300, 2, Duration.ofSeconds(90));
    }

    @Test
    @Tag("slow")
    void a_hundred_bad_runs_of_each_kind_among_ten_thousand_affect_no_others() {
        mix(10_000, 100, Duration.ofMinutes(25));
    }

    /**
     * Measures both cases in turn, so that other load on the machine slows both. The test compares the time that nodes
     * lived, because the replacement of a killed process is not part of Carillon and takes ten seconds on a busy
     * machine. It prints the elapsed time as well.
     */
    @Test
    @Tag("slow")
    void twenty_runs_that_halt_their_node_cost_four_thousand_others_at_most_half_again_as_much_node_time() {
        Spent without = new Spent(0, 0);
        Spent with = new Spent(0, 0);
        for (int round = 0; round < 2; round++) {
            without = without.plus(spentUntilGoodRunsEnded(4_000, 0));
            with = with.plus(spentUntilGoodRunsEnded(4_000, 20));
        }
        double factor = with.nodeSeconds / without.nodeSeconds;
        System.out.printf(
                "4,000 good runs, twice: %.1f s without, %.1f s with 20 runs that halt their node, factor %.2f;"
                        + " factor of the time that nodes lived %.2f%n",
                without.seconds, with.seconds, with.seconds / without.seconds, factor);
        assertThat(factor).isLessThanOrEqualTo(1.5);
    }

    /** The elapsed time, and the total time that nodes lived in it. */
    private record Spent(double seconds, double nodeSeconds) {
        Spent plus(Spent other) {
            return new Spent(seconds + other.seconds, nodeSeconds + other.nodeSeconds);
        }
    }

    private static Spent spentUntilGoodRunsEnded(int good, int halting) {
        try (Cluster cluster = new Cluster(Duration.ofMillis(200), Duration.ofMillis(1_500), 3)) {
            for (String queue : List.of("work", "poison"))
                cluster.client.queues().pause(queue);
            List<Boolean> kinds = new ArrayList<>(Collections.nCopies(good, true));
            kinds.addAll(Collections.nCopies(halting, false));
            long seed = System.nanoTime();
            System.out.println("seed " + seed);
            Collections.shuffle(kinds, new Random(seed));
            for (boolean harmless : kinds) {
                if (harmless) cluster.client.enqueue(WORK, new Work(1_000));
                else cluster.client.enqueue(POISON, new Poison(PoisonEffect.HALT));
            }
            String from = cluster.query("SELECT clock_timestamp()").text();
            long began = System.nanoTime();
            for (String queue : List.of("work", "poison"))
                cluster.client.queues().resume(queue);
            await().atMost(Duration.ofMinutes(10))
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> {
                        cluster.replaceDead();
                        return cluster.query("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                                        .number()
                                == good;
                    });
            double seconds = (System.nanoTime() - began) / 1e9;
            assertThat(cluster.query("SELECT count(*) FROM carillon.run_history WHERE state = 'quarantined'"
                                    + " AND target_name = 'work'")
                            .number())
                    .isZero();
            List<Double> deaths = times(cluster.query(KILLED, from).rows());
            List<Double> starts = times(cluster.query(STARTED, from).rows());
            System.out.printf(
                    "%.1f s; nodes died after %s s, new nodes started after %s s; good runs by node deaths %s%n",
                    seconds, deaths, starts, cluster.query(BY_NODE_DEATHS).rows());
            assertThat(deaths).hasSizeLessThanOrEqualTo(halting * 3 / 2);
            double lived = 3 * seconds;
            for (int i = 0; i < deaths.size(); i++)
                lived -= (i < starts.size() ? starts.get(i) : seconds) - deaths.get(i);
            return new Spent(seconds, lived);
        }
    }

    private static List<Double> times(List<List<String>> rows) {
        return rows.stream().map(row -> Double.parseDouble(row.get(0))).toList();
    }

    private static void mix(int good, int each, Duration atMost) {
        try (Cluster cluster = new Cluster(Duration.ofMillis(200), Duration.ofMillis(1_500), 3)) {
            cluster.database().execute("CREATE TABLE lot (run text PRIMARY KEY, what text)");
            long began = System.nanoTime();
            enqueue(cluster, good, each);

            await().atMost(atMost).pollInterval(Duration.ofMillis(100)).until(() -> {
                cluster.replaceDead();
                return cluster.query(LEFT).number() == 0;
            });
            long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
            System.out.printf(
                    "poison mix: %d good runs and %d of each bad kind ended after %d s, %s nodes died,"
                            + " %s runs were isolated, states %s%n",
                    good,
                    each,
                    seconds,
                    cluster.query("SELECT count(*) FROM side_log WHERE event LIKE 'killed %'")
                            .text(),
                    cluster.query("SELECT count(DISTINCT run) FROM run_event WHERE detail = 'crashed'")
                            .text(),
                    cluster.query(OUTCOMES).rows());

            assertThat(cluster.query(OUTCOMES).rows())
                    .containsExactly(
                            List.of("garbage", "dead", "" + each),
                            List.of("good", "succeeded", "" + good),
                            List.of("halt", "quarantined", "" + each),
                            List.of("memory", "dead", "" + each),
                            List.of("stack", "dead", "" + each),
                            List.of("unknown", "no-handler", "" + each));
            assertThat(cluster.query(REASONS, "halt", "its node died%times while it ran alone")
                            .number())
                    .isEqualTo(each);
            assertThat(cluster.query(REASONS, "memory", "%OutOfMemoryError%").number())
                    .isEqualTo(each);
            assertThat(cluster.query(REASONS, "stack", "%StackOverflowError%").number())
                    .isEqualTo(each);
            assertThat(cluster.query(REASONS, "garbage", "%").number()).isEqualTo(each);
            assertThat(cluster.client.health().issues())
                    .anyMatch(issue ->
                            issue.text().contains("%d runs wait for the handler '%s'".formatted(each, UNKNOWN.name())));
            // A node without memory may send no heartbeat for too long.
            assertThat(HistoryChecker.check(cluster.historyWithNodeDeaths())).isEmpty();
        }
    }

    /** Enqueues all runs in random order while the nodes work. */
    private static void enqueue(Cluster cluster, int good, int each) {
        List<String> kinds = new ArrayList<>(Collections.nCopies(good, "good"));
        for (String bad : List.of("halt", "memory", "stack", "garbage", "unknown"))
            kinds.addAll(Collections.nCopies(each, bad));
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Collections.shuffle(kinds, new Random(seed));
        int number = 0;
        for (String what : kinds) {
            String run = switch (what) {
                // Some run for a second, so that their node dies during their attempt.
                case "good" -> id(cluster.client.enqueue(WORK, new Work(number++ % 25 == 0 ? 1_000 : 2)));
                case "garbage" -> id(cluster.client.enqueue(GARBAGE, new Garbage("soon")));
                case "unknown" -> id(cluster.client.enqueue(UNKNOWN, new Work(2)));
                case "halt" -> id(cluster.client.enqueue(POISON, new Poison(PoisonEffect.HALT)));
                case "memory" -> id(cluster.client.enqueue(POISON, new Poison(PoisonEffect.EXHAUST_MEMORY)));
                default -> id(cluster.client.enqueue(POISON, new Poison(PoisonEffect.OVERFLOW_STACK)));
            };
            cluster.query("INSERT INTO lot VALUES (?, ?) RETURNING 1", run, what)
                    .rows();
            cluster.replaceDead();
        }
    }

    private static String id(EnqueueResult result) {
        return result.run().value().toString();
    }
}
