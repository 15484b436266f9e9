package io.carillon.it.limit;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.carillon.Carillon;
import io.carillon.Health;
import io.carillon.QueueInfo;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.carillon.webhook.Endpoint;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.hosts.HostLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A receiver of webhooks is down. The other receivers of the same project are called as before, on real nodes. */
@CarillonTest
class DeadReceiverTest {
    private static final Duration PROMPTLY = Duration.ofSeconds(5);

    private final ApiFixture fixture;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger callsOfDead = new AtomicInteger();
    private final HttpServer dead;
    private final HttpServer fine;

    DeadReceiverTest(TestDatabase database) throws IOException {
        this.fixture = new ApiFixture(database);
        this.dead = receiver(500, callsOfDead);
        this.fine = receiver(200, new AtomicInteger());
    }

    @AfterEach
    void close() {
        fixture.close();
        dead.stop(0);
        fine.stop(0);
        threads.shutdownNow();
    }

    private HttpServer receiver(int status, AtomicInteger calls) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            calls.incrementAndGet();
            int answer = exchange.getRequestURI().getPath().equals("/invalid") ? 400 : status;
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(answer, -1);
            exchange.close();
        });
        server.start();
        return server;
    }

    private static String url(HttpServer receiver) {
        return "http://127.0.0.1:" + receiver.getAddress().getPort() + "/";
    }

    private Webhooks webhooks(HostLimits limits) {
        return Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().allow("127.0.0.0/8"))
                .hostLimits(limits)
                .endpoint(Endpoint.named("dead", url(dead)))
                .endpoint(Endpoint.named("fine", url(fine)))
                .endpoint(Endpoint.named("strict", url(fine) + "invalid"))
                .build();
    }

    private void assertSentPromptly(Carillon carillon, WebhookTarget target) {
        RunId run = carillon.enqueue(Webhooks.TYPE, target).run();
        eventually()
                .atMost(PROMPTLY)
                .until(() -> carillon.runs()
                        .get(run)
                        .filter(one -> one.state() == RunState.SUCCEEDED)
                        .isPresent());
    }

    private void openBreakerOfHost(Carillon node) {
        node.enqueueAll(Webhooks.TYPE, Collections.nCopies(40, WebhookTarget.post(url(dead))));
        String host = "127.0.0.1:" + dead.getAddress().getPort();
        eventually()
                .until(() -> node.health().issues().stream()
                        .anyMatch(issue -> issue.kind() == Health.Kind.BREAKER_OPEN
                                && issue.text().contains("the breaker of host '" + host + "' of project 'default'")));
    }

    private static Map<String, QueueInfo> queues(Carillon carillon) {
        return carillon.queues().list().stream().collect(toMap(QueueInfo::name, queue -> queue));
    }

    @Test
    void urls_of_other_receivers_are_called_while_one_is_dead() {
        try (Webhooks webhooks = webhooks(HostLimits.defaults())) {
            Carillon node = fixture.node(webhooks::registerOn);
            openBreakerOfHost(node);

            assertSentPromptly(node, WebhookTarget.post(url(fine)));
            assertThat(queues(node).get("webhooks").breaker())
                    .as("of the queue")
                    .isNull();
            assertThat(callsOfDead.get()).isBetween(20, 40);
        }
    }

    @Test
    void the_endpoint_of_a_dead_receiver_opens_its_own_breaker_and_others_are_called() {
        try (Webhooks webhooks = webhooks(HostLimits.defaults())) {
            Carillon node = fixture.node(webhooks::registerOn);
            node.enqueueAll(Webhooks.TYPE, Collections.nCopies(60, WebhookTarget.to("dead")));

            eventually()
                    .until(() ->
                            queues(node).get("endpoint.dead").breaker().state().equals("open"));

            assertSentPromptly(node, WebhookTarget.to("fine"));
            assertSentPromptly(node, WebhookTarget.post(url(fine)));
            assertThat(node.health().issues())
                    .filteredOn(issue -> issue.kind() == Health.Kind.BREAKER_OPEN)
                    .extracting(Health.Issue::text)
                    .singleElement()
                    .asString()
                    .contains("the breaker of queue 'endpoint.dead'");
            assertThat(node.queues().resume("endpoint.dead")).isTrue();
            assertThat(queues(node).get("endpoint.dead").breaker().state()).isEqualTo("closed");
        }
    }

    @Tag("slow")
    @Test
    void an_endpoint_that_rejects_messages_with_400_keeps_its_breaker_closed() {
        try (Webhooks webhooks = webhooks(HostLimits.defaults())) {
            Carillon node = fixture.node(webhooks::registerOn);
            node.enqueueAll(Webhooks.TYPE, Collections.nCopies(30, WebhookTarget.to("strict")));

            eventually()
                    .until(() -> fixture.query("SELECT coalesce(sum(succeeded), 0) FROM carillon.lane_attempt_stats"
                                            + " WHERE failed = 0")
                                    .number()
                            >= 30);

            assertThat(queues(node).get("endpoint.strict").breaker()).isEqualTo(new QueueInfo.Breaker("closed", null));
        }
    }

    @Tag("slow")
    @Test
    void a_thousand_runs_to_a_dead_host_are_parked_and_do_not_delay_runs_to_another() {
        HostLimits shortPauses = HostLimits.defaults().pause(Duration.ofSeconds(1), Duration.ofSeconds(2));
        try (Webhooks webhooks = webhooks(shortPauses)) {
            Carillon node = fixture.node(webhooks::registerOn);
            openBreakerOfHost(node);
            node.enqueueAll(Webhooks.TYPE, Collections.nCopies(1_000, WebhookTarget.post(url(dead))));
            eventually()
                    .until(() -> fixture.query("SELECT count(*) FROM carillon.run WHERE attempt = 0")
                                    .number()
                            == 0);
            long before = claims();
            long start = System.nanoTime();
            int callsBefore = callsOfDead.get();

            for (int i = 0; i < 3; i++) assertSentPromptly(node, WebhookTarget.post(url(fine)));

            // Several probes: the parked runs of the first pauses have returned, and were parked again.
            eventually().until(() -> callsOfDead.get() >= callsBefore + 3);
            long claims = claims() - before;
            double seconds = (System.nanoTime() - start) / 1e9;
            assertThat(claims).as("claims in %.1f s", seconds).isLessThan(Math.round(130 * seconds));
            assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE failures > 0")
                            .number())
                    .as("runs that failed")
                    .isLessThan(100);
        }
    }

    private long claims() {
        return fixture.query("SELECT sum(attempt) FROM carillon.run").number();
    }
}
