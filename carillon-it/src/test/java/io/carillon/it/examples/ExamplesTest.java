package io.carillon.it.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.RunDueResult;
import io.carillon.Wakeup;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.spi.Keyring;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the examples of docs/wakeup.md. */
@CarillonTest
class ExamplesTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final Keyring KEYS = Keyring.parse(Keyring.newKey("messages"));
    private final ApiFixture fixture;
    private final Queue<String> done = new ConcurrentLinkedQueue<>();

    ExamplesTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
        fixture.database().execute("DELETE FROM carillon.node");
    }

    @ParameterizedTest
    @ValueSource(strings = {"notify", "polling"})
    void a_plain_server_executes_enqueued_runs(String wakeup) {
        Carillon server = fixture.add(PlainServer.start(fixture.database().pool(6), wakeup, done::add));

        server.enqueue(PlainServer.GREET, new PlainServer.Greeting("ann"));

        await().until(() -> done.contains("ann"));
    }

    @Test
    void a_function_executes_due_runs_when_it_is_called() {
        try (FunctionHandler function = new FunctionHandler(fixture.database().pool(2), done::add)) {
            fixture.client(builder -> builder.wakeup(Wakeup.http()))
                    .enqueue(FunctionHandler.GREET, new FunctionHandler.Greeting("bob"));

            assertThat(function.handle(Duration.ofSeconds(5))).isEqualTo(new RunDueResult(1, 0));
            assertThat(function.handle(Duration.ofSeconds(5))).isEqualTo(new RunDueResult(0, 0));
        }
        assertThat(done).containsExactly("bob");
    }

    @Test
    void an_external_cron_calls_a_protected_endpoint() throws Exception {
        Carillon carillon = fixture.client(
                builder -> builder.wakeup(Wakeup.http()).handle(JOB, (job, run) -> done.add(job.name())));
        try (CronEndpoint endpoint = new CronEndpoint(carillon, "secret")) {
            carillon.enqueue(JOB, new Job("x"));

            assertThat(call(endpoint, "POST", "wrong").statusCode()).isEqualTo(401);
            assertThat(call(endpoint, "GET", "secret").statusCode()).isEqualTo(405);
            assertThat(done).isEmpty();
            HttpResponse<String> answer = call(endpoint, "POST", "secret");

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("{\"processed\":1,\"errors\":0}");
        }
        assertThat(done).containsExactly("x");
    }

    @Test
    @SuppressWarnings("try") // the consumer needs no calls
    void a_consumer_executes_the_runs_that_the_messages_of_its_queue_name() throws Exception {
        MemoryBroker broker = new MemoryBroker();
        try (QueueConsumer consumer = new QueueConsumer(fixture.database().pool(2), broker, KEYS, broker, done::add)) {
            enqueuer(broker).enqueue(QueueConsumer.GREET, new QueueConsumer.Greeting("eve"));

            await().until(() -> done.contains("eve"));
        }
    }

    @Test
    void a_function_executes_the_runs_of_the_messages_that_its_queue_pushes() throws Exception {
        MemoryBroker broker = new MemoryBroker();
        try (MessageFunction function = new MessageFunction(fixture.database().pool(2), broker, KEYS, done::add)) {
            enqueuer(broker).enqueue(MessageFunction.GREET, new MessageFunction.Greeting("dan"));
            String message = broker.take(1, Duration.ZERO).get(0).text();

            HttpResponse<String> answer = post(function.address(), message);
            HttpResponse<String> repeated = post(function.address(), message);

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("{\"results\":[{\"result\":\"acknowledge\"}]}");
            assertThat(repeated.statusCode()).isEqualTo(200);
        }
        assertThat(done).containsExactly("dan");
    }

    private Carillon enqueuer(MemoryBroker broker) {
        return fixture.client(builder -> builder.wakeup(Wakeup.queue(broker).messagePerRun(KEYS, Duration.ofDays(1))));
    }

    private static HttpResponse<String> post(URI address, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(address)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .timeout(Duration.ofSeconds(20))
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    private static HttpResponse<String> call(CronEndpoint endpoint, String method, String token) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(endpoint.address())
                .method(method, HttpRequest.BodyPublishers.noBody())
                .header("Authorization", "Bearer " + token)
                .timeout(Duration.ofSeconds(20))
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }
}
