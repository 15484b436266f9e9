package io.carillon.it.workflow;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.FaultProxy;
import io.carillon.testkit.TestDatabase;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Step;
import io.carillon.workflow.Workflow;
import io.carillon.workflow.WorkflowType;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Steps of workflows whose writes commit together with their record. */
@CarillonTest
class TransactionStepTest {
    private static final Duration BUDGET = Duration.ofSeconds(30);
    private static final WorkflowType<String> POSTING = WorkflowType.of("posting", String.class);
    private static final Retry AT_ONCE = Retry.exponential(Duration.ZERO);
    private static final Step<String> POST = Step.of("post", String.class).retry(AT_ONCE.attempts(3));
    private final ApiFixture fixture;
    private final AtomicInteger calls = new AtomicInteger();

    TransactionStepTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @BeforeEach
    void createBookTable() {
        fixture.database().execute("DROP TABLE IF EXISTS book; CREATE TABLE book (entry text)");
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private static void post(Connection connection, String entry) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO book VALUES (?)")) {
            insert.setString(1, entry);
            insert.executeUpdate();
        }
    }

    private List<String> book() {
        return fixture.query("SELECT entry FROM book ORDER BY entry").texts();
    }

    private Carillon client(Workflow<String, ?> workflow) {
        HandlerOptions options = HandlerOptions.defaults().retry(AT_ONCE.attempts(3));
        return fixture.client(builder -> builder.workflow(POSTING, workflow, options));
    }

    private static RunId start(Carillon carillon) {
        return carillon.enqueue(POSTING.handlerType(), "4711").run();
    }

    @Test
    void a_try_that_fails_leaves_nothing_and_the_writes_of_the_last_one_commit_with_the_record() {
        Carillon client = client((input, flow) -> {
            String posted = flow.runInTransaction(POST, (connection, step) -> {
                post(connection, "try " + calls.incrementAndGet());
                if (step.failures() == 0) throw new IllegalStateException("declined");
                return step.idempotencyKey();
            });
            flow.run(Step.of("fail", Void.class).retry(AT_ONCE.attempts(2)), step -> {
                if (step.failures() == 0) throw new IllegalStateException("the next execution replays");
                return null;
            });
            return posted;
        });
        RunId id = start(client);

        client.runDue(BUDGET);

        assertThat(client.runs().result(id, String.class)).contains(id + "/post");
        assertThat(book()).containsExactly("try 2");
        assertThat(client.runs().steps(id)).extracting("kind").containsExactly("step", "step");
    }

    @Test
    void the_writes_of_a_node_that_lost_the_run_are_rolled_back() {
        CountDownLatch release = new CountDownLatch(1);
        Workflow<String, String> workflow = (input, flow) -> flow.runInTransaction(POST, (connection, step) -> {
            int call = calls.incrementAndGet();
            post(connection, "call " + call);
            if (call == 1) awaitIgnoringStops(release);
            return "call " + call;
        });
        List<Carillon> nodes = Stream.generate(() -> fixture.node(
                        builder -> builder.config(ApiFixture.quickHeartbeats()).workflow(POSTING, workflow)))
                .limit(2)
                .toList();
        RunId id = start(nodes.get(0));
        ApiFixture.eventually().until(() -> calls.get() == 1);

        fixture.database()
                .execute("UPDATE carillon.node SET dead_at = carillon.clock(), dead_reason = 'test'"
                        + " WHERE id = (SELECT owner FROM carillon.run)");

        awaitState(nodes.get(0), id, RunState.SUCCEEDED);
        release.countDown();
        nodes.forEach(Carillon::close);
        ApiFixture.eventually()
                .until(() -> fixture.query("SELECT count(*) FROM pg_stat_activity"
                                        + " WHERE datname = current_database() AND state LIKE 'idle in%'")
                                .number()
                        == 0);
        assertThat(book()).containsExactly("call 2");
        assertThat(fixture.query("SELECT convert_from(value, 'UTF8') FROM carillon.workflow_step")
                        .texts())
                .containsExactly("\"call 2\"");
    }

    private static void awaitIgnoringStops(CountDownLatch latch) {
        while (true)
            try {
                latch.await();
                return;
            } catch (InterruptedException stopped) {
                // The step of a dead node that ignores its stop.
            }
    }

    @Test
    void a_crash_before_the_commit_leaves_nothing() {
        Carillon client = client((input, flow) -> flow.runInTransaction(POST, (connection, step) -> {
            post(connection, "call " + calls.incrementAndGet());
            if (calls.get() == 1) endSession(connection);
            return "posted";
        }));
        RunId id = start(client);

        client.runDue(BUDGET);

        assertThat(client.runs().get(id).orElseThrow().state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(book()).containsExactly("call 2");
    }

    private void endSession(Connection connection) throws SQLException {
        try (var pid = connection.createStatement().executeQuery("SELECT pg_backend_pid()")) {
            pid.next();
            fixture.query("SELECT pg_terminate_backend(?)", pid.getInt(1)).texts();
        }
    }

    @Test
    void a_commit_whose_answer_was_lost_is_found_and_not_executed_again() {
        Workflow<String, String> workflow = (input, flow) -> flow.runInTransaction(POST, (connection, step) -> {
            post(connection, "call " + calls.incrementAndGet());
            return "posted";
        });
        try (FaultProxy proxy = FaultProxy.inFrontOf(fixture.database())) {
            Carillon client = fixture.add(
                    Carillon.on(proxy.dataSource()).workflow(POSTING, workflow).build());
            RunId id = start(client);
            proxy.resetAfterCommit(statement -> statement.contains("INSERT INTO carillon.workflow_step ("), 1);

            client.runDue(BUDGET);
            fixture.database().execute("UPDATE carillon.run SET ready_at = carillon.clock()");
            client.runDue(BUDGET);

            assertThat(proxy.lostAcknowledgements()).isOne();
            assertThat(client.runs().get(id).orElseThrow().state()).isEqualTo(RunState.SUCCEEDED);
            assertThat(book()).containsExactly("call 1");
            client.close();
        }
    }

    @Test
    void a_result_that_cannot_be_recorded_rolls_back() {
        assertThat(reason((connection, step) -> {
                    post(connection, "too long");
                    return "x".repeat(1024 * 1024);
                }))
                .contains("The result has 1048578 bytes; at most 1048576 bytes are recorded.");
        assertThat(book()).isEmpty();
    }

    private String reason(Flow.TransactionCode<String> code) {
        Carillon client = client((input, flow) -> flow.runInTransaction(POST, code));
        RunId id = start(client);
        client.runDue(BUDGET);
        return String.valueOf(client.runs().get(id).orElseThrow().details().reason());
    }
}
