package io.carillon.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.run.Enqueue;
import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.server.CarillonServer;
import io.carillon.server.RestTestServer;
import io.carillon.server.RestTestServer.Reply;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests of a project that enqueue at the same time share transactions; nothing else about them is shared. */
class SharedEnqueuesTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static final int THREADS = 24;
    private static final String AUDITED =
            "SELECT count(*) FROM carillon.audit WHERE action = 'run.enqueue'" + " AND project = ?";

    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private List<Reply> atTheSameTime(int count, IntFunction<Callable<Reply>> request) throws Exception {
        List<Future<Reply>> sent = new ArrayList<>();
        for (int i = 0; i < count; i++) sent.add(threads.submit(request.apply(i)));
        List<Reply> replies = new ArrayList<>();
        for (Future<Reply> one : sent) replies.add(one.get(1, TimeUnit.MINUTES));
        return replies;
    }

    private static String body(String handler, String fields) {
        return "{\"target\":{\"handler\":\"%s\"},\"after\":\"1h\"%s}".formatted(handler, fields);
    }

    @Test
    void requests_that_wait_together_share_a_transaction_and_each_has_its_run_and_its_audit_entry() throws Exception {
        String key = SERVER.createProject("together");
        int count = 480;

        List<Reply> replies = atTheSameTime(
                count,
                i -> () -> SERVER.send(
                        key,
                        "POST",
                        "/v1/runs",
                        body("h" + i % 7, ",\"queue\":\"q%d\",\"payload\":%d".formatted(i % 5, i)),
                        "Idempotency-Key",
                        "together-" + i,
                        "X-Request-Id",
                        "request-" + i));

        Set<String> runs = new HashSet<>();
        for (int i = 0; i < count; i++) {
            Reply reply = replies.get(i).requireStatus(201);
            runs.add(reply.at("/run"));
            assertThat(reply.at("/current/target/handler")).isEqualTo("h" + i % 7);
            assertThat(reply.at("/current/queue")).isEqualTo("q" + i % 5);
            assertThat(reply.header("Location")).contains("/v1/runs/" + reply.at("/run"));
            if (i % 40 == 0)
                assertThat(SERVER.get(key, "/v1/runs/" + reply.at("/run")).at("/payload"))
                        .isEqualTo(Integer.toString(i));
        }
        assertThat(runs).hasSize(count);
        assertThat(SERVER.query(AUDITED, "together").number()).isEqualTo(count);
        assertThat(SERVER.query("""
                        SELECT count(*) FROM carillon.audit a
                          JOIN carillon.idempotency i
                            ON i.project = a.project AND i.key = replace(a.request_id, 'request-', 'together-')
                         WHERE a.project = 'together'
                           AND convert_from(i.body, 'UTF8')::jsonb ->> 'run' = a.detail ->> 'run'
                        """).number()).isEqualTo(count);
        assertThat(SERVER.query("SELECT count(DISTINCT xmin::text) FROM carillon.audit WHERE project = 'together'")
                        .number())
                .as("transactions; a request that no other one waits beside has its own")
                .isLessThan(count);
    }

    @Test
    void requests_share_transactions_beside_busy_projects() throws Exception {
        String key = SERVER.createProject("shares");
        ExecutorService others = Executors.newCachedThreadPool();
        AtomicBoolean stop = new AtomicBoolean();
        for (int i = 0; i < 6; i++) {
            String other = SERVER.createProject("busy-" + i);
            others.execute(() -> {
                while (!stop.get()) SERVER.get(other, "/v1/queues");
            });
        }
        int count = 480;
        try {
            for (Reply reply : atTheSameTime(count, i -> () -> SERVER.post(key, "/v1/runs", body("a", ""))))
                reply.requireStatus(201);
        } finally {
            stop.set(true);
            others.shutdown();
        }

        assertThat(SERVER.query("SELECT count(DISTINCT xmin::text) FROM carillon.audit WHERE project = 'shares'")
                        .number())
                .as("transactions")
                .isLessThan(count);
    }

    @Test
    void a_request_that_is_refused_or_repeated_changes_nothing_for_the_others() throws Exception {
        String key = SERVER.createProject("mixed");
        String first = SERVER.post(key, "/v1/runs", body("a", ",\"key\":\"taken\""))
                .requireStatus(201)
                .at("/run");
        String used = SERVER.send(key, "POST", "/v1/runs", body("a", ""), "Idempotency-Key", "used")
                .requireStatus(201)
                .at("/run");
        int count = 240;

        List<Reply> replies = atTheSameTime(count, i -> () -> switch (i % 6) {
            case 0 ->
                SERVER.send(
                        key,
                        "POST",
                        "/v1/runs",
                        "{\"target\":{\"endpoint\":\"missing\"}}",
                        "Idempotency-Key",
                        "refused-" + i);
            case 1 -> SERVER.post(key, "/v1/runs", body("a", ",\"key\":\"taken\""));
            case 2 -> SERVER.send(key, "POST", "/v1/runs", body("a", ""), "Idempotency-Key", "used");
            case 3 -> SERVER.send(key, "POST", "/v1/runs", body("b", ""), "Idempotency-Key", "used");
            case 4 -> SERVER.send(key, "POST", "/v1/runs", body("c", ""), "Idempotency-Key", "one-" + i / 60);
            default -> SERVER.post(key, "/v1/runs", body("a", ""));
        });

        Set<String> onePerKey = new HashSet<>();
        for (int i = 0; i < count; i++) {
            Reply reply = replies.get(i);
            switch (i % 6) {
                case 0 ->
                    assertThat(reply.requireStatus(422).at("/errors/0/pointer")).isEqualTo("/target/endpoint");
                case 1 -> assertThat(reply.requireStatus(200).at("/run")).isEqualTo(first);
                case 2 -> assertThat(reply.requireStatus(201).at("/run")).isEqualTo(used);
                case 3 -> assertThat(reply.requireStatus(422).code()).isEqualTo("idempotency-key-reused");
                case 4 -> onePerKey.add(reply.requireStatus(201).at("/run"));
                default -> reply.requireStatus(201);
            }
        }
        assertThat(onePerKey).hasSize(4);
        // One entry for each run or found run: not for refused and repeated requests.
        assertThat(SERVER.query(AUDITED, "mixed").number()).isEqualTo(2 + count / 6 + 4 + count / 6);
        assertThat(SERVER.query("SELECT count(*) FROM carillon.idempotency WHERE project = 'mixed'")
                        .number())
                .as("a refused request does not use up its key")
                .isEqualTo(1 + 4);
    }

    @Test
    void a_run_that_the_database_rejects_fails_alone() throws Exception {
        String key = SERVER.createProject("poisoned");
        SERVER.database().execute("""
                CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF NEW.target_name = 'poison' THEN RAISE EXCEPTION 'poison' USING ERRCODE = '22023'; END IF;
                  RETURN NEW; END $$;
                CREATE TRIGGER refuse_poison BEFORE INSERT ON carillon.run
                  FOR EACH ROW EXECUTE FUNCTION refuse_poison();
                """);
        int count = 240;

        List<Reply> replies =
                atTheSameTime(count, i -> () -> SERVER.post(key, "/v1/runs", body(i % 8 == 0 ? "poison" : "good", "")));

        for (int i = 0; i < count; i++) replies.get(i).requireStatus(i % 8 == 0 ? 422 : 201);
        assertThat(SERVER.query("SELECT count(*) FROM carillon.run WHERE project = 'poisoned'")
                        .number())
                .isEqualTo(count * 7 / 8);
        assertThat(SERVER.query(AUDITED, "poisoned").number()).isEqualTo(count * 7 / 8);
    }

    @Test
    void every_request_counts_towards_the_quota() throws Exception {
        String key = SERVER.createProject("counted");
        SERVER.put(SERVER.bootstrap(), "/v1/projects/counted/quota", "{\"maxWaiting\":50}")
                .requireStatus(200);

        List<Reply> replies = atTheSameTime(100, i -> () -> SERVER.post(key, "/v1/runs", body("a", "")));

        long stored = replies.stream().filter(reply -> reply.status() == 201).count();
        assertThat(replies.stream().filter(reply -> reply.status() == 429)).hasSize(100 - (int) stored);
        // Transactions at the same time may exceed the limit together, by the requests that wait.
        assertThat(stored).isBetween(50L, 50L + THREADS);
        assertThat(SERVER.query("SELECT count(*) FROM carillon.run WHERE project = 'counted'")
                        .number())
                .isEqualTo(stored);
    }

    @Test
    void two_servers_with_the_same_keys_in_opposite_order_store_each_run_once() throws Exception {
        String key = SERVER.createProject("opposite");
        int count = 120;
        try (CarillonServer other = SERVER.start()) {
            List<Reply> replies = atTheSameTime(2 * count, i -> () -> {
                int number = i % 2 == 0 ? i / 2 : count - 1 - i / 2;
                return SERVER.sendTo(
                        i % 2 == 0 ? SERVER.server().port() : other.port(),
                        key,
                        "POST",
                        "/v1/runs",
                        body("a", ",\"key\":\"u%03d\"".formatted(count - number)),
                        "Idempotency-Key",
                        "i%03d".formatted(number));
            });

            assertThat(replies).allSatisfy(reply -> reply.requireStatus(201));
        }
        assertThat(SERVER.query("SELECT count(*) FROM carillon.run WHERE project = 'opposite'")
                        .number())
                .isEqualTo(count);
        assertThat(SERVER.query(AUDITED, "opposite").number()).isEqualTo(count);
    }

    @Test
    void requests_that_wait_for_a_lock_delay_neither_their_project_nor_others() throws Exception {
        String slow = SERVER.createProject("slow");
        String quick = SERVER.createProject("quick");
        try (CarillonServer server = CarillonServer.on(
                                SERVER.carillon(), SERVER.database().pool(20))
                        .listen("127.0.0.1", 0)
                        .start();
                Connection open = SERVER.database().dataSource().getConnection()) {
            open.setAutoCommit(false);
            SERVER.carillon()
                    .project("slow")
                    .in(open)
                    .enqueueAll(
                            Target.handler("a"),
                            List.of(new Payload("{}".getBytes(StandardCharsets.UTF_8), "json")),
                            Enqueue.now().uniqueKey("held"));
            List<Future<Reply>> blocked = new ArrayList<>();
            // Fewer than the transactions that a project may have besides the shared one: others may need one too.
            for (int i = 0; i < 6; i++)
                blocked.add(threads.submit(
                        () -> SERVER.sendTo(server.port(), slow, "POST", "/v1/runs", body("a", ",\"key\":\"held\""))));
            await().atMost(20, TimeUnit.SECONDS)
                    .until(() -> SERVER.query("SELECT count(*) FROM pg_locks WHERE NOT granted")
                                    .number()
                            > 0);

            for (int i = 0; i < 10; i++)
                for (String key : List.of(quick, slow)) {
                    long began = System.nanoTime();
                    SERVER.sendTo(server.port(), key, "POST", "/v1/runs", body("a", ""))
                            .requireStatus(201);
                    assertThat(Duration.ofNanos(System.nanoTime() - began))
                            .as("less than the time for which a blocked request waits")
                            .isLessThan(Duration.ofMillis(1_500));
                }
            open.commit();

            // A request that waited for longer than the lock timeout is to be repeated.
            for (Future<Reply> one : blocked) {
                Reply reply = one.get(1, TimeUnit.MINUTES);
                if (reply.status() == 503)
                    assertThat(reply.header("Retry-After")).isPresent();
                else assertThat(reply.requireStatus(200).at("/enqueued")).isEqualTo("false");
            }
        }
    }
}
