package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.awaitState;
import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.Health;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.store.NodeView;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the front door says of nodes, their health, and runs that nobody can execute. */
@CarillonTest
class HealthTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final HandlerType<Job> NEWER = HandlerType.of("job.newer", Job.class);
    private final Queue<String> done = new ConcurrentLinkedQueue<>();
    private final House house;

    HealthTest(TestDatabase database) {
        house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
        house.database().execute("DELETE FROM carillon.node");
    }

    @Test
    void a_working_node_is_healthy() {
        Carillon carillon = house.node(builder -> builder.handle(JOB, (job, run) -> {}));

        eventually().until(() -> carillon.health().healthy());
        assertThat(carillon.health().issues()).isEmpty();
    }

    @Test
    void a_run_without_a_handler_waits_is_named_and_runs_when_a_node_knows_it() {
        Carillon older = house.node(builder -> builder.handle(JOB, (job, run) -> done.add(job.name())));
        RunId id = older.enqueue(NEWER, new Job("new")).run();

        Health health = eventually()
                .until(older::health, now -> now.issues().stream().anyMatch(issue -> issue.contains("'job.newer'")));

        assertThat(health.healthy()).isFalse();
        assertThat(health.issues()).anySatisfy(issue -> assertThat(issue).contains("1 runs wait"));
        Run waiting = older.runs().get(id).orElseThrow();
        assertThat(waiting.state()).isEqualTo(RunState.WAITING);
        assertThat(waiting.failures()).isZero();
        assertThat(waiting.details().parked()).isEqualTo("no-handler");
        assertThat(older.runs().explain(id))
                .hasValueSatisfying(
                        why -> assertThat(why.summary()).contains("no living node has a handler named 'job.newer'"));
        awaitState(older, older.enqueue(JOB, new Job("old")).run(), RunState.SUCCEEDED);

        house.node(builder -> builder.handle(NEWER, (job, run) -> done.add(job.name())));

        awaitState(older, id, RunState.SUCCEEDED);
        assertThat(done).containsExactlyInAnyOrder("old", "new");
        eventually().until(() -> older.health().healthy());
    }

    @Test
    void runs_of_a_handler_another_node_has_are_left_to_it() {
        Carillon one = house.node(builder -> builder.handle(JOB, (job, run) -> done.add("one " + job.name())));
        house.node(builder -> builder.handle(NEWER, (job, run) -> done.add("two " + job.name())));

        List<RunId> ids = List.of(
                one.enqueue(NEWER, new Job("a")).run(),
                one.enqueue(JOB, new Job("b")).run(),
                one.enqueue(NEWER, new Job("c")).run());

        ids.forEach(id ->
                assertThat(awaitState(one, id, RunState.SUCCEEDED).failures()).isZero());
        assertThat(done).containsExactlyInAnyOrder("two a", "one b", "two c");
    }

    @Test
    void nodes_show_what_they_are() {
        Carillon carillon =
                house.node(builder -> builder.nodeName("alpha").concurrency(7).handle(JOB, (job, run) -> {}));

        NodeView node = carillon.nodes().get(0);

        assertThat(carillon.nodes()).hasSize(1);
        assertThat(node.alive()).isTrue();
        assertThat(node.info().name()).isEqualTo("alpha");
        assertThat(node.info().slots()).isEqualTo(7);
        assertThat(node.info().handlers()).containsExactly("job");
        assertThat(node.info().pid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(node.deadAt()).isNull();
    }

    @Test
    void a_node_that_stopped_in_order_says_so() {
        Carillon carillon = house.node(builder -> builder.handle(JOB, (job, run) -> {}));
        Carillon client = house.client(builder -> builder);

        carillon.close();

        assertThat(client.nodes()).singleElement().satisfies(node -> {
            assertThat(node.alive()).isFalse();
            assertThat(node.deadWhy()).isEqualTo("stopped");
        });
        assertThat(client.health().issues())
                .anySatisfy(issue -> assertThat(issue).contains("no node is alive"));
    }

    @Test
    void a_node_that_fell_silent_is_declared_dead_by_another_and_named() {
        silentNode("ghost");
        Carillon carillon =
                house.node(builder -> builder.config(House.quickBeats()).handle(JOB, (job, run) -> {}));

        NodeView dead = eventually()
                .until(
                        () -> carillon.nodes().stream()
                                .filter(node -> node.info().name().equals("ghost"))
                                .findFirst()
                                .orElseThrow(),
                        node -> !node.alive());

        assertThat(dead.deadWhy()).contains("no beat for 3 s");
    }

    @Test
    void a_node_that_fell_silent_alone_does_not_pass_for_alive() {
        silentNode("ghost");
        house.database().execute("UPDATE carillon.node SET beat_at = carillon.clock() - interval '2 minutes'");
        Carillon client = house.client(builder -> builder);

        Health health = client.health();

        assertThat(health.healthy()).isFalse();
        assertThat(health.issues())
                .anySatisfy(issue -> assertThat(issue).contains("'ghost'").containsPattern("12\\d s"));
    }

    @Test
    void two_nodes_of_the_same_name_are_two_nodes_and_steal_nothing() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        CountDownLatch finish = new CountDownLatch(1);
        Carillon one = twin(both, finish);
        Carillon two = twin(both, finish);
        RunId first = one.enqueue(JOB, new Job("a")).run();
        RunId second = two.enqueue(JOB, new Job("b")).run();
        eventually().until(() -> both.getCount() == 0);

        assertThat(one.nodes())
                .hasSize(2)
                .allMatch(NodeView::alive)
                .allMatch(node -> node.info().name().equals("twin"));
        assertThat(one.nodes()).extracting(node -> node.info().id()).doesNotHaveDuplicates();
        finish.countDown();

        assertThat(awaitState(one, first, RunState.SUCCEEDED).attempt()).isEqualTo(1);
        assertThat(awaitState(one, second, RunState.SUCCEEDED).attempt()).isEqualTo(1);
        assertThat(done).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void delayed_runs_of_a_client_without_a_node_start_when_they_are_due() {
        Carillon worker = house.node(builder -> builder.handle(JOB, (job, run) -> {}));
        Carillon client = house.client(builder -> builder);

        Run run = awaitState(
                worker,
                client.enqueue(JOB, new Job("x"), Enqueue.after(Duration.ofMillis(300)))
                        .run(),
                RunState.SUCCEEDED);

        assertThat(Duration.between(run.instants().dueAt(), run.instants().startedAt()))
                .isBetween(Duration.ZERO, Duration.ofSeconds(3));
    }

    private Carillon twin(CountDownLatch both, CountDownLatch finish) {
        return house.node(builder -> builder.nodeName("twin")
                .concurrency(1)
                .config(House.quickBeats().with(new io.carillon.engine.EngineConfig.Slots(1, 1, 1)))
                .handle(JOB, (job, run) -> {
                    both.countDown();
                    finish.await();
                    done.add(job.name());
                }));
    }

    /** A node whose process was killed: its row stays, its beat stands still. */
    private void silentNode(String name) {
        house.database()
                .execute("INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)"
                        + " VALUES (gen_random_uuid(), '" + name
                        + "', 'elsewhere', 1, 'dev', 1, '{job}', 1, 'notify')");
    }
}
