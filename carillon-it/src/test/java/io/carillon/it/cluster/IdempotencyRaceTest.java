package io.carillon.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.it.cluster.Servers.One;
import io.carillon.it.cluster.Servers.Said;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A hundred who send the same request with the same Idempotency-Key to two servers, one of which is killed meanwhile. */
class IdempotencyRaceTest {
    private static final String BODY = "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}";
    private static final String WAITING_FOR_RUN = """
            SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'carillon.run'::regclass
            """;
    private static final int MANY = 100;

    @Test
    void a_server_that_dies_in_the_effect_leaves_one_effect_and_one_answer() throws Exception {
        try (Servers servers = new Servers(2);
                Crowd crowd = new Crowd()) {
            One dying = servers.get(0);
            One living = servers.get(1);
            List<Future<Said>> answers = new ArrayList<>();
            try (Connection owner = servers.database.dataSource().getConnection();
                    Statement lock = owner.createStatement()) {
                owner.setAutoCommit(false);
                lock.execute("LOCK TABLE carillon.run IN SHARE MODE");
                answers.add(crowd.add(() -> untilAnswered(servers, List.of(dying, living), "k")));
                // The first of them holds the key, and is in the middle of its effect.
                await().atMost(Duration.ofSeconds(20)).until(() -> servers.number(WAITING_FOR_RUN) == 1);
                for (int i = 1; i < MANY; i++) {
                    List<One> way = i % 2 == 0 ? List.of(dying, living) : List.of(living);
                    answers.add(crowd.add(() -> untilAnswered(servers, way, "k")));
                }
                dying.process().kill9();
                owner.rollback();
            }
            Said first = judged(servers, answers, "k");

            assertThat(servers.send(living, "POST", "/v1/runs", BODY.replace("1h", "2h"), "Idempotency-Key", "k")
                            .status())
                    .as("another request under the same key")
                    .isEqualTo(422);
            One later = servers.start();
            living.process().kill9();
            Said after = servers.send(later, "POST", "/v1/runs", BODY, "Idempotency-Key", "k");
            assertThat(after.body()).as("the answer outlives whoever gave it").isEqualTo(first.body());
            assertThat(after.replayed()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    void a_server_that_dies_at_any_moment_leaves_one_effect_and_one_answer() throws Exception {
        long seed = Long.getLong("carillon.seed", new Random().nextLong());
        System.out.println("idempotency seed " + seed + ", repeat with -Dcarillon.seed=" + seed);
        Random random = new Random(seed);
        try (Servers servers = new Servers(2);
                Crowd crowd = new Crowd()) {
            One living = servers.get(0);
            for (int round = 0; round < 20; round++) {
                One dying = servers.get(servers.size() - 1);
                String key = "round-" + round;
                List<Future<Said>> answers = new ArrayList<>();
                for (int i = 0; i < MANY; i++) {
                    List<One> way = i % 2 == 0 ? List.of(dying, living) : List.of(living);
                    answers.add(crowd.add(() -> untilAnswered(servers, way, key)));
                }
                // The moment itself, not a wait for something.
                TimeUnit.MILLISECONDS.sleep(random.nextInt(60));
                dying.process().kill9();
                judged(servers, answers, key);
                servers.start();
            }
        }
    }

    /** All have the same answer, and behind it stands one run, written down once. */
    private static Said judged(Servers servers, List<Future<Said>> answers, String key) throws Exception {
        List<Said> all = new ArrayList<>();
        for (Future<Said> answer : answers) all.add(answer.get(60, TimeUnit.SECONDS));
        Said first = all.get(0);
        assertThat(first.status()).as(first.body()).isEqualTo(201);
        assertThat(all).allSatisfy(said -> assertThat(said.body()).isEqualTo(first.body()));
        assertThat(all.stream().filter(said -> !said.replayed()))
                .as("at most one did it; the one who did may have died")
                .hasSizeLessThanOrEqualTo(1);
        assertThat(servers.number("SELECT count(*) FROM carillon.idempotency WHERE key = '" + key + "'"))
                .isEqualTo(1);
        assertThat(servers.number("SELECT count(*) FROM carillon.run"))
                .isEqualTo(servers.number("SELECT count(*) FROM carillon.idempotency"))
                .isEqualTo(servers.number("SELECT count(*) FROM carillon.audit WHERE action = 'run.enqueue'"));
        return first;
    }

    /** As a careful client does: whoever dies is left for the next, and whoever says "not now" is asked again. */
    private static Said untilAnswered(Servers servers, List<One> way, String key) {
        int which = 0;
        while (true) {
            Said said = servers.send(way.get(which), "POST", "/v1/runs", BODY, "Idempotency-Key", key);
            if (said.status() == 201) return said;
            if (said.status() == 0) which = Math.min(which + 1, way.size() - 1);
            else {
                assertThat(said.status()).as(said.body()).isIn(409, 503);
                assertThat(said.retryAfter()).as(said.body()).isNotEqualTo(Optional.empty());
            }
        }
    }

    /** Enough threads for everybody at once. */
    private static final class Crowd implements AutoCloseable {
        private final ExecutorService threads = Executors.newFixedThreadPool(MANY);

        Future<Said> add(java.util.concurrent.Callable<Said> one) {
            return threads.submit(one);
        }

        @Override
        public void close() {
            threads.shutdownNow();
        }
    }
}
