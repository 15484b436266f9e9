package io.carillon.it.observability;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.Health;
import io.carillon.NodeInfo;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nodes, health issues and runs without a handler, as the API reports them. */
@CarillonTest
class HealthTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final HandlerType<Job> NEWER = HandlerType.of("job.newer", Job.class);
    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private final ApiFixture fixture;

    HealthTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
        fixture.database().execute("DELETE FROM carillon.node");
    }

    @Test
    void a_working_node_is_healthy() {
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));

        eventually().until(() -> carillon.health().healthy());
        assertThat(carillon.health().issues()).isEmpty();
        assertThat(carillon.health().kinds()).isEmpty();
    }

    @Test
    void is_running_returns_whether_the_node_executes_runs() {
        assertThat(fixture.client(builder -> builder).isRunning()).isFalse();
        Carillon node = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        assertThat(node.isRunning()).isTrue();
        node.close();
        assertThat(node.isRunning()).isFalse();
    }

    @Test
    void a_run_without_a_handler_waits_and_is_reported_and_starts_when_a_node_has_the_handler() {
        Carillon older = fixture.node(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        RunId id = older.enqueue(NEWER, new Job("new")).run();

        Health health = eventually()
                .until(
                        older::health,
                        now -> now.issues().stream()
                                .anyMatch(issue -> issue.text().contains("'job.newer'")));

        assertThat(health.healthy()).isFalse();
        assertThat(health.issues()).anySatisfy(issue -> assertThat(issue.text()).contains("1 run waits"));
        Run waiting = older.runs().get(id).orElseThrow();
        assertThat(waiting.state()).isEqualTo(RunState.WAITING);
        assertThat(waiting.failures()).isZero();
        assertThat(waiting.details().parked()).isEqualTo("no-handler");
        assertThat(older.runs().explain(id))
                .hasValueSatisfying(
                        why -> assertThat(why.summary()).contains("no live node has a handler named 'job.newer'"));
        awaitState(older, older.enqueue(JOB, new Job("old")).run(), RunState.SUCCEEDED);

        fixture.node(builder -> builder.handle(NEWER, (job, run) -> done.add(job.name())));

        awaitState(older, id, RunState.SUCCEEDED);
        assertThat(done).containsExactlyInAnyOrder("old", "new");
        eventually().until(() -> older.health().healthy());
    }

    @Test
    void runs_of_a_handler_of_another_node_are_left_to_that_node() {
        Carillon one = fixture.node(builder -> builder.handle(JOB, (job, run) -> done.add("one " + job.name())));
        fixture.node(builder -> builder.handle(NEWER, (job, run) -> done.add("two " + job.name())));

        List<RunId> ids = List.of(
                one.enqueue(NEWER, new Job("a")).run(),
                one.enqueue(JOB, new Job("b")).run(),
                one.enqueue(NEWER, new Job("c")).run());

        ids.forEach(id ->
                assertThat(awaitState(one, id, RunState.SUCCEEDED).failures()).isZero());
        assertThat(done).containsExactlyInAnyOrder("two a", "one b", "two c");
    }

    @Test
    void nodes_show_their_properties() {
        Carillon carillon =
                fixture.node(builder -> builder.nodeName("alpha").concurrency(7).handle(JOB, (job, run) -> {}));

        NodeInfo node = carillon.nodes().get(0);

        assertThat(carillon.nodes()).hasSize(1);
        assertThat(node.alive()).isTrue();
        assertThat(node.name()).isEqualTo("alpha");
        assertThat(node.slots()).isEqualTo(7);
        assertThat(node.busy()).isZero();
        assertThat(node.wakeup()).isEqualTo("notify");
        assertThat(node.handlers()).containsExactly("carillon.publish", "job");
        assertThat(node.pid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(node.deadAt()).isNull();
    }

    @Test
    void a_closed_node_is_shown_as_stopped() {
        Carillon carillon = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        Carillon client = fixture.client(builder -> builder);

        carillon.close();

        assertThat(client.nodes()).singleElement().satisfies(node -> {
            assertThat(node.alive()).isFalse();
            assertThat(node.deathReason()).isEqualTo("stopped");
        });
        assertThat(client.health().issues())
                .anySatisfy(issue -> assertThat(issue.text()).contains("no node is alive"));
    }

    @Test
    void a_node_without_heartbeats_is_declared_dead_by_another_node() {
        silentNode("ghost");
        Carillon carillon = fixture.node(
                builder -> builder.config(ApiFixture.quickHeartbeats()).handle(JOB, (job, run) -> {}));

        NodeInfo dead = eventually()
                .until(
                        () -> carillon.nodes().stream()
                                .filter(node -> node.name().equals("ghost"))
                                .findFirst()
                                .orElseThrow(),
                        node -> !node.alive());

        assertThat(dead.deathReason()).matches("no heartbeat for 3 s, declared dead by node nod_[0-9a-z]{26}");
    }

    @Test
    void a_single_node_without_heartbeats_is_not_shown_as_alive() {
        silentNode("ghost");
        fixture.database().execute("UPDATE carillon.node SET heartbeat_at = carillon.clock() - interval '2 minutes'");
        Carillon client = fixture.client(builder -> builder);

        Health health = client.health();

        assertThat(health.healthy()).isFalse();
        assertThat(health.issues())
                .anySatisfy(
                        issue -> assertThat(issue.text()).contains("'ghost'").containsPattern("12\\d s"));
    }

    @Test
    void two_nodes_with_the_same_name_do_not_take_runs_from_each_other() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        CountDownLatch finish = new CountDownLatch(1);
        Carillon one = startTwin(both, finish);
        Carillon two = startTwin(both, finish);
        RunId first = one.enqueue(JOB, new Job("a")).run();
        RunId second = two.enqueue(JOB, new Job("b")).run();
        eventually().until(() -> both.getCount() == 0);

        assertThat(one.nodes())
                .hasSize(2)
                .allMatch(NodeInfo::alive)
                .allMatch(node -> node.name().equals("twin"));
        assertThat(one.nodes()).extracting(NodeInfo::id).doesNotHaveDuplicates();
        finish.countDown();

        assertThat(awaitState(one, first, RunState.SUCCEEDED).attempt()).isEqualTo(1);
        assertThat(awaitState(one, second, RunState.SUCCEEDED).attempt()).isEqualTo(1);
        assertThat(done).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void delayed_runs_of_a_client_without_a_node_start_when_they_are_due() {
        Carillon worker = fixture.node(builder -> builder.handle(JOB, (job, run) -> {}));
        Carillon client = fixture.client(builder -> builder);

        Run run = awaitState(
                worker,
                client.enqueue(JOB, new Job("x"), Enqueue.after(Duration.ofMillis(300)))
                        .run(),
                RunState.SUCCEEDED);

        assertThat(Duration.between(run.instants().dueAt(), run.instants().startedAt()))
                .isBetween(Duration.ZERO, Duration.ofSeconds(3));
    }

    private Carillon startTwin(CountDownLatch both, CountDownLatch finish) {
        return fixture.node(builder -> builder.nodeName("twin")
                .config(ApiFixture.quickHeartbeats()
                        .concurrency(1)
                        .transactionalConcurrency(1)
                        .maxClaimSize(1))
                .handle(JOB, (job, run) -> {
                    both.countDown();
                    finish.await();
                    done.add(job.name());
                }));
    }

    /** Inserts the row of a node whose process was killed: the row stays, its heartbeat does not advance. */
    private void silentNode(String name) {
        fixture.database()
                .execute("INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)"
                        + " VALUES (gen_random_uuid(), '" + name
                        + "', 'elsewhere', 1, 'dev', 1, '{job}', 1, 'notify')");
    }
}
