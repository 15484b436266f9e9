package io.carillon.it.workflow;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.Enqueue.OnFailure;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Chains of runs, as an application uses them. */
@CarillonTest
class ChainTest {
    record Job(String name, boolean fails) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final ApiFixture fixture;
    private final Queue<String> order = new ConcurrentLinkedQueue<>();
    private final CountDownLatch begin = new CountDownLatch(1);

    ChainTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        begin.countDown();
        fixture.close();
    }

    private Carillon node() {
        return fixture.node(builder -> builder.handle(JOB, (job, run) -> {
            begin.await();
            order.add(job.name());
            if (job.fails()) throw new IllegalStateException("no");
        }));
    }

    private static RunId enqueue(Carillon carillon, String name, Enqueue options) {
        return carillon.enqueue(JOB, new Job(name, name.startsWith("bad")), options.retry(Retry.none()))
                .run();
    }

    @Test
    void runs_of_a_chain_start_one_after_the_other() {
        Carillon node = node();
        List<String> names = IntStream.range(0, 8).mapToObj(i -> "job " + i).toList();
        RunId last = null;
        for (String name : names) last = enqueue(node, name, last == null ? Enqueue.now() : Enqueue.afterRun(last));
        begin.countDown();

        awaitState(node, last, RunState.SUCCEEDED);
        assertThat(order).containsExactlyElementsOf(names);
    }

    @Test
    void a_failure_cancels_the_rest_of_the_chain_or_not() {
        Carillon node = node();
        RunId bad = enqueue(node, "bad", Enqueue.now());
        RunId second = enqueue(node, "second", Enqueue.afterRun(bad));
        RunId third = enqueue(node, "third", Enqueue.afterRun(second));
        RunId anyway =
                enqueue(node, "anyway", Enqueue.afterAll(List.of(bad, third)).onFailure(OnFailure.RUN_ANYWAY));
        RunId later = enqueue(node, "later", Enqueue.afterRun(bad).onFailure(OnFailure.WAIT));
        assertThat(node.runs().explain(second).orElseThrow().summary())
                .isEqualTo("It waits: it waits for the end of run " + bad + ".");
        begin.countDown();

        awaitState(node, anyway, RunState.SUCCEEDED);
        awaitState(node, second, RunState.CANCELLED);
        awaitState(node, third, RunState.CANCELLED);
        assertThat(order).containsExactly("bad", "anyway");
        assertThat(node.runs().get(later).orElseThrow().state()).isEqualTo(RunState.WAITING);
        assertThat(fixture.query("SELECT count(*) FROM carillon.run_wait").number())
                .isOne();
    }

    @Test
    void a_client_and_a_transaction_can_store_chains() throws SQLException {
        Carillon node = node();
        Carillon client = fixture.client(builder -> builder.handle(JOB, (job, run) -> {}));
        RunId first = enqueue(client, "first", Enqueue.now());
        RunId second;
        try (Connection connection = fixture.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            second = client.in(connection)
                    .enqueue(JOB, new Job("second", false), Enqueue.afterRun(first))
                    .run();
            begin.countDown();
            awaitState(node, first, RunState.SUCCEEDED);
            connection.commit();
        }
        awaitState(node, second, RunState.SUCCEEDED);

        RunId third = enqueue(client, "third", Enqueue.afterAll(List.of(first, second)));
        awaitState(node, third, RunState.SUCCEEDED);
        assertThat(order).containsExactly("first", "second", "third");
    }

    @Test
    void one_call_of_runDue_executes_a_chain() {
        begin.countDown();
        Carillon client = fixture.client(builder -> builder.handle(JOB, (job, run) -> order.add(job.name())));
        RunId first = enqueue(client, "first", Enqueue.now());
        RunId second = enqueue(client, "second", Enqueue.afterRun(first).concurrencyKey("shop"));
        enqueue(client, "third", Enqueue.afterRun(second).onFailure(OnFailure.RUN_ANYWAY));
        enqueue(client, "gone", Enqueue.afterRun(RunId.generate()).onFailure(OnFailure.RUN_ANYWAY));

        client.runDue(Duration.ofSeconds(30));

        assertThat(order).containsExactlyInAnyOrder("first", "gone", "second", "third");
        assertThat(new ArrayList<>(order)).containsSubsequence("first", "second", "third");
    }

    @Test
    void invalid_waits_are_refused() {
        assertThatThrownBy(() -> Enqueue.afterAll(List.of()))
                .isInstanceOf(CarillonException.class)
                .hasMessage("A run can wait for 1 to 1000 runs (was 0).");
        List<RunId> many =
                IntStream.range(0, 1_001).mapToObj(i -> RunId.generate()).toList();
        assertThatThrownBy(() -> Enqueue.afterAll(many)).hasMessage("A run can wait for 1 to 1000 runs (was 1001).");
        assertThatThrownBy(() -> Enqueue.now().onFailure(OnFailure.CANCEL))
                .hasMessage(
                        "onFailure(CANCEL) needs a run to wait for. Begin with Enqueue.afterRun or Enqueue.afterAll.");
    }
}
