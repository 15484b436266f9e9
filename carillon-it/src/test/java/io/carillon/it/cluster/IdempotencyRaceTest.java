package io.carillon.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.it.cluster.Servers.ServerHandle;
import io.carillon.it.cluster.Servers.ServerReply;
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

/** A hundred clients send the same request with the same Idempotency-Key to two servers; one server is killed. */
class IdempotencyRaceTest {
    private static final String BODY = "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}";
    private static final String WAITING_FOR_RUN = """
            SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'carillon.run'::regclass
            """;
    private static final int MANY = 100;

    @Tag("slow")
    @Test
    void a_server_killed_during_the_effect_leaves_one_effect_and_one_answer() throws Exception {
        try (Servers servers = new Servers(2);
                CallerThreads callerThreads = new CallerThreads()) {
            ServerHandle dying = servers.get(0);
            ServerHandle living = servers.get(1);
            List<Future<ServerReply>> answers = new ArrayList<>();
            try (Connection owner = servers.database.dataSource().getConnection();
                    Statement lock = owner.createStatement()) {
                owner.setAutoCommit(false);
                lock.execute("LOCK TABLE carillon.run IN SHARE MODE");
                answers.add(callerThreads.add(() -> untilAnswered(servers, List.of(dying, living), "k")));
                // The first request holds the key and waits in the middle of its effect.
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> servers.database.query(WAITING_FOR_RUN).number() == 1);
                for (int i = 1; i < MANY; i++) {
                    List<ServerHandle> targets = i % 2 == 0 ? List.of(dying, living) : List.of(living);
                    answers.add(callerThreads.add(() -> untilAnswered(servers, targets, "k")));
                }
                dying.process().kill();
                owner.rollback();
            }
            ServerReply first = checkReplies(servers, answers, "k");

            assertThat(servers.send(living, "POST", "/v1/runs", BODY.replace("1h", "2h"), "Idempotency-Key", "k")
                            .status())
                    .as("another request under the same key")
                    .isEqualTo(422);
            ServerHandle later = servers.start();
            living.process().kill();
            ServerReply after = servers.send(later, "POST", "/v1/runs", BODY, "Idempotency-Key", "k");
            assertThat(after.body())
                    .as("the stored answer is replayed after its server died")
                    .isEqualTo(first.body());
            assertThat(after.replayed()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    void a_server_killed_at_any_moment_leaves_one_effect_and_one_answer() throws Exception {
        long seed = Long.getLong("carillon.seed", new Random().nextLong());
        System.out.println("idempotency seed " + seed + ", repeat with -Dcarillon.seed=" + seed);
        Random random = new Random(seed);
        try (Servers servers = new Servers(2);
                CallerThreads callerThreads = new CallerThreads()) {
            ServerHandle living = servers.get(0);
            for (int round = 0; round < 20; round++) {
                ServerHandle dying = servers.get(servers.size() - 1);
                String key = "round-" + round;
                List<Future<ServerReply>> answers = new ArrayList<>();
                for (int i = 0; i < MANY; i++) {
                    List<ServerHandle> targets = i % 2 == 0 ? List.of(dying, living) : List.of(living);
                    answers.add(callerThreads.add(() -> untilAnswered(servers, targets, key)));
                }
                // The random moment of the kill.
                TimeUnit.MILLISECONDS.sleep(random.nextInt(60));
                dying.process().kill();
                checkReplies(servers, answers, key);
                servers.start();
            }
        }
    }

    /** Checks that all clients got the same answer, and that one run and one audit entry exist for the key. */
    private static ServerReply checkReplies(Servers servers, List<Future<ServerReply>> answers, String key)
            throws Exception {
        List<ServerReply> all = new ArrayList<>();
        for (Future<ServerReply> answer : answers) all.add(answer.get(60, TimeUnit.SECONDS));
        ServerReply first = all.get(0);
        assertThat(first.status()).as(first.body()).isEqualTo(201);
        assertThat(all).allSatisfy(serverReply -> assertThat(serverReply.body()).isEqualTo(first.body()));
        assertThat(all.stream().filter(serverReply -> !serverReply.replayed()))
                .as("at most one server executed the request; it may have died since")
                .hasSizeLessThanOrEqualTo(1);
        assertThat(servers.database
                        .query("SELECT count(*) FROM carillon.idempotency WHERE key = '" + key + "'")
                        .number())
                .isEqualTo(1);
        assertThat(servers.database.query("SELECT count(*) FROM carillon.run").number())
                .isEqualTo(servers.database
                        .query("SELECT count(*) FROM carillon.idempotency")
                        .number())
                .isEqualTo(servers.database
                        .query("SELECT count(*) FROM carillon.audit WHERE action = 'run.enqueue'")
                        .number());
        return first;
    }

    /** Retries like a careful client: a dead server is replaced by the next, and 409 or 503 is sent again. */
    private static ServerReply untilAnswered(Servers servers, List<ServerHandle> targets, String key) {
        int which = 0;
        while (true) {
            ServerReply serverReply =
                    servers.send(targets.get(which), "POST", "/v1/runs", BODY, "Idempotency-Key", key);
            if (serverReply.status() == 201) return serverReply;
            if (serverReply.status() == 0) which = Math.min(which + 1, targets.size() - 1);
            else {
                assertThat(serverReply.status()).as(serverReply.body()).isIn(409, 503);
                assertThat(serverReply.retryAfter()).as(serverReply.body()).isNotEqualTo(Optional.empty());
            }
        }
    }

    /** Threads for all clients at the same time. */
    private static final class CallerThreads implements AutoCloseable {
        private final ExecutorService threads = Executors.newFixedThreadPool(MANY);

        Future<ServerReply> add(java.util.concurrent.Callable<ServerReply> one) {
            return threads.submit(one);
        }

        @Override
        public void close() {
            threads.shutdownNow();
        }
    }
}
