package io.carillon.server.endpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.run.Enqueue;
import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.server.RestTestServer;
import io.carillon.server.WebhookReceiver;
import io.carillon.server.store.EndpointRepository;
import io.carillon.server.store.Transactions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An endpoint is deleted only when nothing uses it, or everything that uses it is paused. */
class EndpointDeletionTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static WebhookReceiver receiver;
    private static String key;
    private static Transactions transactions;
    private static EndpointRepository endpoints;

    @BeforeAll
    static void listen() throws Exception {
        receiver = new WebhookReceiver();
        key = SERVER.createProject("leaving");
        transactions = new Transactions(SERVER.database().pool(2));
        endpoints = new EndpointRepository(transactions);
    }

    @AfterAll
    static void stop() {
        receiver.close();
    }

    private static void create(String name) {
        SERVER.post(key, "/v1/endpoints", "{\"name\":\"%s\",\"url\":\"%s\"}".formatted(name, receiver.url("/" + name)))
                .requireStatus(201);
    }

    private static RestTestServer.Reply enqueue(String name) {
        return SERVER.post(key, "/v1/runs", "{\"target\":{\"endpoint\":\"" + name + "\"}}");
    }

    private static void schedule(String name) {
        SERVER.put(
                        key,
                        "/v1/schedules/" + name,
                        "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"endpoint\":\"" + name + "\"}}")
                .requireStatus(201);
    }

    @Test
    void deletion_is_refused_while_schedules_or_runs_use_the_endpoint() {
        create("used");
        schedule("used");
        String run = enqueue("used").requireStatus(201).at("/run");

        RestTestServer.Reply refused = SERVER.delete(key, "/v1/endpoints/used").requireStatus(409);
        assertThat(refused.code()).isEqualTo("endpoint-in-use");
        assertThat(refused.at("/detail"))
                .startsWith("The endpoint is used by 1 schedule, 0 subscriptions and 1 waiting or running run. ");
        SERVER.post(key, "/v1/runs/" + run + "/cancel", null).requireStatus(200);
        SERVER.delete(key, "/v1/endpoints/used").requireStatus(409);
        SERVER.delete(key, "/v1/schedules/used").requireStatus(204);
        SERVER.delete(key, "/v1/endpoints/used").requireStatus(204);
        SERVER.delete(key, "/v1/endpoints/used").requireStatus(404);
        enqueue("used").requireStatus(422);
    }

    @Test
    void a_forced_deletion_pauses_what_uses_the_endpoint_and_a_new_one_serves_it() {
        create("forced");
        schedule("forced");
        String run = enqueue("forced").requireStatus(201).at("/run");
        SERVER.delete(key, "/v1/endpoints/forced?force=maybe").requireStatus(400);
        SERVER.delete(key, "/v1/endpoints/forced?force=true").requireStatus(204);

        String reason = "endpoint \"forced\" was deleted";
        assertThat(SERVER.get(key, "/v1/queues/endpoint.forced").at("/paused/reason"))
                .isEqualTo(reason);
        assertThat(SERVER.get(key, "/v1/schedules/forced").at("/paused/reason")).isEqualTo(reason);
        SERVER.runDue();
        assertThat(SERVER.get(key, "/v1/runs/" + run).at("/state")).isEqualTo("waiting");
        assertThat(SERVER.get(key, "/v1/audit?action=endpoint.delete&limit=1").at("/items/0/detail/pausedRuns"))
                .isEqualTo("1");

        create("forced");
        SERVER.post(key, "/v1/queues/endpoint.forced/resume", null).requireStatus(200);
        SERVER.runDue();
        assertThat(receiver.received("/forced")).hasSize(1);
    }

    @Test
    void a_forced_deletion_pauses_up_to_ten_thousand_schedules() {
        create("crowded");
        schedule("crowded");
        SERVER.database().execute("""
                CREATE TEMP TABLE copied AS SELECT s.*, i FROM carillon.schedule s, generate_series(1, 10000) i
                 WHERE name = 'crowded';
                UPDATE copied SET id = gen_random_uuid(), name = 'crowded' || i;
                ALTER TABLE copied DROP COLUMN i;
                INSERT INTO carillon.schedule SELECT * FROM copied;
                DROP TABLE copied
                """);

        RestTestServer.Reply refused =
                SERVER.delete(key, "/v1/endpoints/crowded?force=true").requireStatus(409);
        assertThat(refused.code()).isEqualTo("endpoint-in-use");
        assertThat(refused.at("/detail")).startsWith("More than 10000 schedules");
        assertThat(SERVER.delete(key, "/v1/endpoints/crowded")
                        .requireStatus(409)
                        .at("/detail"))
                .startsWith("The endpoint is used by 10000 or more schedules, 0 subscriptions and 0 waiting or running "
                        + "runs. ");
        assertThat(paused("crowded")).isZero();

        SERVER.delete(key, "/v1/schedules/crowded").requireStatus(204);
        SERVER.delete(key, "/v1/endpoints/crowded?force=true").requireStatus(204);
        assertThat(paused("crowded")).isEqualTo(10_000);
        SERVER.database().execute("DELETE FROM carillon.schedule WHERE queue = 'endpoint.crowded'");
    }

    private static long paused(String endpoint) {
        return SERVER.query("SELECT count(paused_at) FROM carillon.schedule WHERE queue = 'endpoint." + endpoint + "'")
                .number();
    }

    @Test
    void a_new_endpoint_delivers_if_nothing_of_the_deleted_one_is_left() {
        create("renewed");
        String run = enqueue("renewed").requireStatus(201).at("/run");
        SERVER.delete(key, "/v1/endpoints/renewed?force=true").requireStatus(204);

        // Its run would be sent to the new URL.
        RestTestServer.Reply kept = SERVER.post(
                        key,
                        "/v1/endpoints",
                        "{\"name\":\"renewed\",\"url\":\"%s\"}".formatted(receiver.url("/renewed")))
                .requireStatus(201);
        assertThat(kept.at("/paused/reason")).isEqualTo("endpoint \"renewed\" was deleted");
        assertThat(SERVER.get(key, "/v1/endpoints/renewed").at("/paused/by")).startsWith("key ");
        assertThat(SERVER.get(key, "/v1/endpoints?limit=200").text()).contains("endpoint \\\"renewed\\\" was deleted");

        SERVER.post(key, "/v1/runs/" + run + "/cancel", null).requireStatus(200);
        SERVER.delete(key, "/v1/endpoints/renewed").requireStatus(204);
        RestTestServer.Reply fresh = SERVER.post(
                        key,
                        "/v1/endpoints",
                        "{\"name\":\"renewed\",\"url\":\"%s\"}".formatted(receiver.url("/renewed")))
                .requireStatus(201);
        assertThat(fresh.json().has("paused")).isFalse();
        assertThat(SERVER.get(key, "/v1/audit?action=endpoint.make&limit=1").at("/items/0/detail/resumedQueue"))
                .isEqualTo("endpoint.renewed");
        enqueue("renewed").requireStatus(201);
        SERVER.runDue();
        assertThat(receiver.received("/renewed")).hasSize(1);
    }

    @Test
    void a_new_endpoint_does_not_resume_a_queue_that_a_user_paused() {
        create("held");
        SERVER.post(key, "/v1/queues/endpoint.held/pause", "{\"reason\":\"maintenance\"}")
                .requireStatus(200);
        SERVER.delete(key, "/v1/endpoints/held").requireStatus(204);
        create("held");

        assertThat(SERVER.get(key, "/v1/endpoints/held").at("/paused/reason")).isEqualTo("maintenance");
    }

    @Test
    void a_deletion_waits_for_an_enqueue_and_sees_its_run() {
        create("raced");
        CompletableFuture<RestTestServer.Reply> deletion = transactions.runInProject("leaving", session -> {
            assertThat(endpoints.getForUse(session, "leaving", "raced")).isPresent();
            CompletableFuture<RestTestServer.Reply> started =
                    startAndAwaitLock(() -> SERVER.delete(key, "/v1/endpoints/raced"));
            SERVER.carillon()
                    .project("leaving")
                    .in(session.connection(), hint -> {})
                    .enqueueAll(
                            Target.handler("webhook"),
                            List.of(new Payload("{\"endpoint\":\"raced\"}".getBytes(UTF_8), "json")),
                            Enqueue.now().queue("endpoint.raced"));
            return started;
        });
        assertThat(deletion.join().requireStatus(409).code()).isEqualTo("endpoint-in-use");
    }

    @Test
    void an_enqueue_waits_for_a_deletion_and_is_refused() {
        create("vanishing");
        CompletableFuture<RestTestServer.Reply> enqueued = transactions.runInProject("leaving", session -> {
            assertThat(endpoints.getForDelete(session, "leaving", "vanishing")).isPresent();
            endpoints.delete(session, "leaving", "vanishing");
            return startAndAwaitLock(() -> enqueue("vanishing"));
        });
        assertThat(enqueued.join().requireStatus(422).at("/errors/0/pointer")).isEqualTo("/target/endpoint");
    }

    @Test
    void enqueues_and_changes_of_an_endpoint_do_not_wait_for_each_other() {
        create("busy");
        transactions.runInProject("leaving", session -> {
            assertThat(endpoints.getForUse(session, "leaving", "busy")).isPresent();
            enqueue("busy").requireStatus(201);
            SERVER.put(key, "/v1/endpoints/busy", "{\"url\":\"" + receiver.url("/busy") + "\"}")
                    .requireStatus(200);
            return true;
        });
    }

    /** Starts a request and waits until it waits for a lock of another transaction. */
    private static CompletableFuture<RestTestServer.Reply> startAndAwaitLock(Supplier<RestTestServer.Reply> request) {
        CompletableFuture<RestTestServer.Reply> started = CompletableFuture.supplyAsync(request);
        await().until(() -> started.isDone()
                || !SERVER.query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                + " AND wait_event_type = 'Lock'")
                        .text()
                        .equals("0"));
        return started;
    }
}
