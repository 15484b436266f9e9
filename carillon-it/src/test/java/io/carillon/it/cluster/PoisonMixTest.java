package io.carillon.it.cluster;

import static io.carillon.it.cluster.ClusterNode.POISON;
import static io.carillon.it.cluster.ClusterNode.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.it.cluster.ClusterNode.Harm;
import io.carillon.it.cluster.ClusterNode.Poison;
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

/** Runs that kill, choke or confuse their node, among runs that do nothing wrong; nodes that die are replaced. */
class PoisonMixTest {
    record Garbage(String millis) {}

    private static final HandlerType<Garbage> GARBAGE = HandlerType.of("work", Garbage.class);
    private static final HandlerType<Work> UNKNOWN = HandlerType.of("nobody.knows", Work.class);

    // What became of each kind of run: ended, or parked.
    private static final String FATES = """
            SELECT l.what, coalesce(h.state, r.parked), count(*)
              FROM lot l LEFT JOIN carillon.run_history h ON h.id = l.run::uuid LEFT JOIN carillon.run r ON r.id = l.run::uuid
             GROUP BY 1, 2 ORDER BY 1, 2
            """;
    private static final String REASONS = """
            SELECT count(*) FROM lot l JOIN carillon.run_history h ON h.id = l.run::uuid JOIN carillon.dead_run d ON d.id = h.id
             WHERE l.what = ? AND h.reason LIKE ? AND d.error = h.reason
            """;
    private static final String LEFT =
            "SELECT count(*) FROM carillon.run WHERE parked IS DISTINCT FROM 'no-handler' OR owner IS NOT NULL";

    private static final String KILLED =
            "SELECT round(extract(epoch FROM at - ?::timestamptz), 1) FROM side_log WHERE event LIKE 'killed %' ORDER BY at";

    private static final String STARTED =
            "SELECT round(extract(epoch FROM started_at - at), 1) FROM carillon.node, (SELECT ?::timestamptz AS at) f WHERE started_at > at ORDER BY 1";

    private static final String SHARED =
            "SELECT suspect, count(*) FROM carillon.run_history WHERE target_name = 'work' GROUP BY 1 ORDER BY 1";

    private static final String BROKEN = "SELECT count(*) FROM carillon.lane WHERE breaker <> 'closed'";

    @Tag("slow")
    @Test
    void a_few_bad_runs_hurt_only_themselves() {
        mix(300, 2, Duration.ofSeconds(90));
    }

    @Test
    @Tag("slow")
    void a_hundred_bad_runs_of_each_kind_among_ten_thousand_hurt_only_themselves() {
        mix(10_000, 100, Duration.ofMinutes(25));
    }

    /**
     * Both sides in turn, so that what else the machine does slows both. How long a killed process takes to be replaced is not ours: on a busy machine it is
     * ten seconds. So the time that the nodes lived is compared, and the time that passed is printed.
     */
    @Test
    @Tag("slow")
    void
            twenty_runs_that_halt_their_node_make_four_thousand_others_take_at_most_half_as_much_time_of_the_nodes_again() {
        Spent without = new Spent(0, 0);
        Spent with = new Spent(0, 0);
        for (int round = 0; round < 2; round++) {
            without = without.plus(spentUntilGoodAreOver(4_000, 0));
            with = with.plus(spentUntilGoodAreOver(4_000, 20));
        }
        double factor = with.nodeSeconds / without.nodeSeconds;
        System.out.printf(
                "4,000 good runs, twice: %.1f s without, %.1f s with 20 that halt their node, factor %.2f; in time that nodes lived factor %.2f%n",
                without.seconds, with.seconds, with.seconds / without.seconds, factor);
        assertThat(factor).isLessThanOrEqualTo(1.5);
    }

    /** The time that passed, and the time that nodes lived in it, all together. */
    private record Spent(double seconds, double nodeSeconds) {
        Spent plus(Spent other) {
            return new Spent(seconds + other.seconds, nodeSeconds + other.nodeSeconds);
        }
    }

    private static Spent spentUntilGoodAreOver(int good, int halting) {
        try (Cluster cluster = new Cluster(Duration.ofMillis(200), Duration.ofMillis(1_500), 3)) {
            for (String queue : List.of("work", "poison"))
                cluster.client.queues().pause(queue);
            List<Boolean> lots = new ArrayList<>(Collections.nCopies(good, true));
            lots.addAll(Collections.nCopies(halting, false));
            long seed = System.nanoTime();
            System.out.println("seed " + seed);
            Collections.shuffle(lots, new Random(seed));
            for (boolean harmless : lots) {
                if (harmless) cluster.client.enqueue(WORK, new Work(1_000));
                else cluster.client.enqueue(POISON, new Poison(Harm.HALT));
            }
            String from = cluster.one("SELECT clock_timestamp()");
            long began = System.nanoTime();
            for (String queue : List.of("work", "poison"))
                cluster.client.queues().resume(queue);
            await().atMost(Duration.ofMinutes(10))
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> {
                        cluster.replaceDead();
                        return cluster.number("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                                == good;
                    });
            double seconds = (System.nanoTime() - began) / 1e9;
            assertThat(
                            cluster.number(
                                    "SELECT count(*) FROM carillon.run_history WHERE state = 'quarantined' AND target_name = 'work'"))
                    .isZero();
            List<Double> deaths = times(cluster.rows(KILLED, from));
            List<Double> starts = times(cluster.rows(STARTED, from));
            System.out.printf(
                    "%.1f s; nodes killed after %s s, others started after %s s; good runs by deaths shared %s%n",
                    seconds, deaths, starts, cluster.rows(SHARED));
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
            cluster.execute("CREATE TABLE lot (run text PRIMARY KEY, what text)");
            long began = System.nanoTime();
            enqueue(cluster, good, each);

            await().atMost(atMost).pollInterval(Duration.ofMillis(100)).until(() -> {
                cluster.replaceDead();
                // When only bad runs are left their queue is held back, as it should be: somebody lets it go on.
                if (cluster.number(BROKEN) > 0)
                    for (String queue : List.of("work", "poison"))
                        cluster.client.queues().resume(queue);
                return cluster.number(LEFT) == 0;
            });
            long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
            System.out.printf(
                    "poison mix: %d good and %d of each bad kind over after %d s, %s nodes died, %s runs were suspects, fates %s%n",
                    good,
                    each,
                    seconds,
                    cluster.one("SELECT count(*) FROM side_log WHERE event LIKE 'killed %'"),
                    cluster.one("SELECT count(DISTINCT run) FROM run_event WHERE detail = 'crashed'"),
                    cluster.rows(FATES));

            assertThat(cluster.rows(FATES))
                    .containsExactly(
                            List.of("dive", "dead", "" + each),
                            List.of("garbage", "dead", "" + each),
                            List.of("good", "succeeded", "" + good),
                            List.of("halt", "quarantined", "" + each),
                            List.of("hog", "dead", "" + each),
                            List.of("unknown", "no-handler", "" + each));
            assertThat(cluster.number(REASONS, "halt", "its node died%times while it ran alone"))
                    .isEqualTo(each);
            assertThat(cluster.number(REASONS, "hog", "%OutOfMemoryError%")).isEqualTo(each);
            assertThat(cluster.number(REASONS, "dive", "%StackOverflowError%")).isEqualTo(each);
            assertThat(cluster.number(REASONS, "garbage", "%")).isEqualTo(each);
            assertThat(cluster.client.health().issues())
                    .anyMatch(issue ->
                            issue.contains("%d runs wait for a handler named '%s'".formatted(each, UNKNOWN.name())));
            // A node without memory may be silent for too long.
            assertThat(HistoryChecker.judge(cluster.historyAmongDeaths())).isEmpty();
        }
    }

    /** In a random order, while the nodes work on it. */
    private static void enqueue(Cluster cluster, int good, int each) {
        List<String> lots = new ArrayList<>(Collections.nCopies(good, "good"));
        for (String bad : List.of("halt", "hog", "dive", "garbage", "unknown"))
            lots.addAll(Collections.nCopies(each, bad));
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Collections.shuffle(lots, new Random(seed));
        int number = 0;
        for (String what : lots) {
            String run = switch (what) {
                // Some take their time, and see others of their node die.
                case "good" -> id(cluster.client.enqueue(WORK, new Work(number++ % 25 == 0 ? 1_000 : 2)));
                case "garbage" -> id(cluster.client.enqueue(GARBAGE, new Garbage("soon")));
                case "unknown" -> id(cluster.client.enqueue(UNKNOWN, new Work(2)));
                case "halt" -> id(cluster.client.enqueue(POISON, new Poison(Harm.HALT)));
                case "hog" -> id(cluster.client.enqueue(POISON, new Poison(Harm.HOG)));
                default -> id(cluster.client.enqueue(POISON, new Poison(Harm.DIVE)));
            };
            cluster.rows("INSERT INTO lot VALUES (?, ?) RETURNING 1", run, what);
            cluster.replaceDead();
        }
    }

    private static String id(EnqueueResult result) {
        return result.run().value().toString();
    }
}
