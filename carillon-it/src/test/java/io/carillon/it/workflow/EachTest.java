package io.carillon.it.workflow;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.NodeConfig;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.RedriveResult;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Step;
import io.carillon.workflow.StepFailedException;
import io.carillon.workflow.Workflow;
import io.carillon.workflow.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Steps that are executed for each item of a list, in parallel. */
@CarillonTest
class EachTest {
    private static final Duration BUDGET = Duration.ofSeconds(30);
    private static final WorkflowType<String[]> PACK = WorkflowType.of("pack", String[].class);
    private static final Retry AT_ONCE = Retry.exponential(Duration.ZERO);
    private static final Step<String> PICK = Step.of("pick", String.class).retry(AT_ONCE.attempts(3));
    private static final Step<String> SEND = Step.of("send", String.class).retry(Retry.none());
    private final ApiFixture fixture;
    private final List<String> done = new CopyOnWriteArrayList<>();

    EachTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Carillon client(Workflow<String[], ?> workflow) {
        HandlerOptions options = HandlerOptions.defaults().retry(AT_ONCE.attempts(2));
        return fixture.client(builder -> builder.workflow(PACK, workflow, options));
    }

    private static RunId start(Carillon carillon, String... items) {
        return carillon.enqueue(PACK.handlerType(), items).run();
    }

    private Run run(Carillon client, RunId id) {
        client.runDue(BUDGET);
        return client.runs().get(id).orElseThrow();
    }

    private static List<String> each(Flow flow, Step<String> step, String[] items, Flow.ItemCode<String, String> code) {
        return flow.each(step, List.of(items), item -> item, code);
    }

    private String pick(String item, Flow.StepContext step) {
        done.add(item);
        return step.idempotencyKey();
    }

    @Test
    void a_retried_workflow_continues_with_the_items_that_failed() {
        CyclicBarrier all = new CyclicBarrier(2);
        Carillon client = client((items, flow) -> {
            try {
                flow.run(SEND.key("card"), step -> {
                    throw new IllegalStateException("no address");
                });
            } catch (StepFailedException caught) {
                done.add("caught");
            }
            return each(flow, SEND, items, (item, step) -> {
                if (done.size() < 3) all.await(20, TimeUnit.SECONDS);
                done.add(item);
                if (item.equals("a") && done.size() <= 3) throw new IllegalStateException("sold out");
                return item;
            });
        });
        RunId dead = start(client, "a", "b");
        assertThat(run(client, dead).state()).isEqualTo(RunState.DEAD);
        assertThat(done).containsExactlyInAnyOrder("caught", "a", "b");

        RunId again = ((RedriveResult.Redriven) client.runs().retry(dead)).run();

        assertThat(run(client, again).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(done).hasSize(5).endsWith("caught", "a");
        assertThat(client.runs().result(again, String[].class).orElseThrow()).containsExactly("a", "b");
    }

    @Test
    void items_are_executed_in_parallel_and_their_results_have_the_order_of_the_list() {
        CyclicBarrier all = new CyclicBarrier(3);
        Carillon client = client((items, flow) -> each(flow, PICK, items, (item, step) -> {
            all.await(20, TimeUnit.SECONDS);
            return pick(item, step);
        }));
        RunId id = start(client, "c", "a", "b");

        assertThat(run(client, id).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(client.runs().result(id, String[].class).orElseThrow())
                .containsExactly(id + "/pick[c]", id + "/pick[a]", id + "/pick[b]");
        assertThat(client.runs().steps(id))
                .extracting(step -> step.position() + " " + step.kind() + " " + step.name() + " " + step.key())
                .containsExactly("0 each pick null", "1 step pick c", "2 step pick a", "3 step pick b");
    }

    @Test
    void a_failure_executes_only_the_missing_items_again() {
        Carillon client = client((items, flow) -> {
            each(flow, PICK, items, (item, step) -> {
                pick(item + step.failures(), step);
                if (item.equals("b") && step.failures() < 2) throw new IllegalStateException("empty shelf");
                return item;
            });
            return flow.run(SEND, step -> pick("send" + step.failures(), step));
        });

        Run ended = run(client, start(client, "a", "b", "c"));

        assertThat(ended.state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(ended.failures()).isEqualTo(2);
        assertThat(done).containsExactlyInAnyOrder("a0", "b0", "c0", "b1", "b2", "send0");
    }

    @Test
    void an_item_that_fails_finally_fails_the_call_in_each_execution_and_others_keep_their_records() {
        CyclicBarrier both = new CyclicBarrier(2);
        Carillon client = client((items, flow) -> {
            try {
                each(flow, SEND, items, (item, step) -> {
                    if (item.equals("a") || item.equals("b")) both.await(20, TimeUnit.SECONDS);
                    done.add(item);
                    if (item.equals("b")) throw new IllegalStateException("no address");
                    return item;
                });
            } catch (StepFailedException failed) {
                done.add("caught " + failed.step());
            }
            return flow.run(PICK, step -> {
                if (step.failures() == 0) throw new IllegalStateException("the next execution replays");
                return "done";
            });
        });
        RunId id = start(client, "a", "b");

        assertThat(run(client, id).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(done).containsExactlyInAnyOrder("a", "b", "caught send[b]", "caught send[b]");
        assertThat(client.runs().steps(id))
                .extracting(step -> step.key() + " " + step.state())
                .containsExactly("null SUCCEEDED", "a SUCCEEDED", "b FAILED", "null SUCCEEDED");
    }

    @Test
    void a_changed_list_fails_with_both_sides() {
        Carillon client = client((items, flow) -> {
            String[] now = done.isEmpty() ? items : new String[] {"a", "x"};
            each(flow, PICK, now, this::pick);
            throw new IllegalStateException("again");
        });

        assertThat(run(client, start(client, "a", "b")).details().reason())
                .contains("'pick' is recorded with the keys [a, b], but the code asks for [a, x]");
    }

    @Test
    void a_wrong_list_is_rejected_before_an_item_is_executed() {
        assertThat(reason((items, flow) -> each(flow, PICK, new String[] {"a", "b", "a"}, this::pick)))
                .contains("'pick[a]' is used twice in this workflow. Give each call another key or name.");
        assertThat(reason((items, flow) -> each(flow, PICK.key("k"), new String[] {"a"}, this::pick)))
                .contains("step 'pick' has the key 'k', but here each item gives its own key.");
        String[] many = IntStream.range(0, 10_000).mapToObj(i -> "" + i).toArray(String[]::new);
        assertThat(reason((items, flow) -> each(flow, PICK, many, this::pick)))
                .contains("A workflow can record at most 10000 steps and waits.");
        assertThat(done).isEmpty();
        assertThat(fixture.query("SELECT count(*) FROM carillon.workflow_step").number())
                .isZero();
    }

    private String reason(Workflow<String[], ?> workflow) {
        Carillon client = client(workflow);
        Run ended = run(client, start(client));
        client.close();
        return String.valueOf(ended.details().reason());
    }

    @Test
    void a_workflow_that_fails_undoes_the_items_in_reverse_order() {
        Carillon client = client((items, flow) -> {
            flow.each(
                    PICK,
                    List.of(items),
                    item -> item,
                    (item, step) -> item + " picked",
                    (item, result, step) -> done.add(result + " put back"));
            return flow.run(SEND, step -> {
                throw new IllegalStateException("no address");
            });
        });
        RunId id = start(client, "a", "b", "c");

        assertThat(run(client, id).state()).isEqualTo(RunState.DEAD);
        assertThat(done).containsExactly("c picked put back", "b picked put back", "a picked put back");
        assertThat(client.runs().steps(id))
                .extracting("kind")
                .containsExactly(
                        "each",
                        "undo",
                        "step",
                        "undo",
                        "step",
                        "undo",
                        "step",
                        "step",
                        "compensate",
                        "undone",
                        "undone",
                        "undone");
    }

    @Test
    void a_workflow_makes_progress_while_another_one_uses_all_other_threads() {
        CountDownLatch release = new CountDownLatch(1);
        Carillon node = fixture.node(builder -> builder.config(
                        NodeConfig.defaults().concurrency(2).shutdownTimeout(Duration.ofSeconds(2)))
                .workflow(
                        PACK,
                        (items, flow) -> each(flow, PICK, items, (item, step) -> {
                            done.add(item);
                            if (item.startsWith("slow")) release.await(30, TimeUnit.SECONDS);
                            return item;
                        })));
        RunId slow = start(node, "slow 1", "slow 2", "slow 3", "slow 4");
        ApiFixture.eventually().until(() -> done.size() == 3);

        awaitState(node, start(node, "a", "b", "c"), RunState.SUCCEEDED);

        assertThat(node.runs().get(slow).orElseThrow().state()).isEqualTo(RunState.RUNNING);
        release.countDown();
        awaitState(node, slow, RunState.SUCCEEDED);
    }

    @Test
    void a_stop_interrupts_the_items_and_starts_no_further_one() {
        Carillon node = fixture.node(builder -> builder.config(
                        NodeConfig.defaults().concurrency(3).shutdownTimeout(Duration.ofSeconds(2)))
                .workflow(
                        PACK,
                        (items, flow) -> each(flow, SEND, items, (item, step) -> {
                            done.add(item);
                            awaitStop();
                            return item;
                        })));
        String[] items = IntStream.range(0, 500).mapToObj(i -> "" + i).toArray(String[]::new);
        RunId id = start(node, items);
        ApiFixture.eventually().until(() -> done.size() == 4);

        node.runs().cancel(id, "enough");

        awaitState(node, id, RunState.CANCELLED);
        assertThat(done).hasSizeLessThan(items.length);
        assertThat(fixture.query("SELECT path FROM carillon.workflow_step WHERE kind = 'step'")
                        .texts())
                .hasSize(done.size());
    }

    private static void awaitStop() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException stopped) {
            // The step ends now, and is recorded.
        }
    }
}
