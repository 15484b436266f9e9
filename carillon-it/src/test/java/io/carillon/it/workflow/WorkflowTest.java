package io.carillon.it.workflow;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.event.EventType;
import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.AttemptRecord;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Start;
import io.carillon.workflow.Step;
import io.carillon.workflow.StepFailedException;
import io.carillon.workflow.Workflow;
import io.carillon.workflow.WorkflowType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Workflows, as an application uses them. Time stands still unless a test moves it. */
@CarillonTest
class WorkflowTest {
    record Order(String id, int items) {}

    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");
    private static final Duration BUDGET = Duration.ofSeconds(30);
    private static final WorkflowType<Order> CHECKOUT = WorkflowType.of("checkout", Order.class);
    private static final Retry AT_ONCE = Retry.exponential(Duration.ZERO);
    private static final Step<String> CHARGE = Step.of("charge", String.class).retry(AT_ONCE);
    private static final Step<Integer> PICK = Step.of("pick", Integer.class).retry(AT_ONCE);
    private final ApiFixture fixture;
    /** What the steps did, in their order. */
    private final List<String> done = new CopyOnWriteArrayList<>();

    WorkflowTest(TestDatabase database) {
        fixture = new ApiFixture(database);
        database.clock().stopAt(NOON);
    }

    @AfterEach
    void close() {
        fixture.close();
        fixture.database().clock().useRealTime();
    }

    private Carillon client(Workflow<Order, ?> workflow) {
        HandlerOptions options = HandlerOptions.defaults().retry(AT_ONCE.attempts(3));
        return fixture.client(builder -> builder.workflow(CHECKOUT, workflow, options));
    }

    private static RunId start(Carillon carillon) {
        return carillon.enqueue(CHECKOUT.handlerType(), new Order("4711", 3)).run();
    }

    private Run run(Carillon client, RunId id) {
        client.runDue(BUDGET);
        return client.runs().get(id).orElseThrow();
    }

    private String charge(Flow flow) {
        return flow.run(CHARGE, step -> {
            done.add("charge");
            return step.idempotencyKey();
        });
    }

    @Test
    void a_workflow_executes_its_steps_and_stores_its_result() {
        Carillon client = client((order, flow) -> {
            String paid = charge(flow);
            int picked = 0;
            for (int i = 0; i < order.items(); i++) {
                int item = i;
                picked += flow.run(PICK.key("item " + i), step -> {
                    done.add("pick " + item);
                    return item;
                });
            }
            return paid + " " + picked;
        });
        RunId id = start(client);

        assertThat(run(client, id).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(client.runs().result(id, String.class)).contains(id + "/charge 3");
        assertThat(done).containsExactly("charge", "pick 0", "pick 1", "pick 2");
    }

    @Test
    void a_failure_at_any_place_repeats_no_recorded_step() {
        for (int failing = 0; failing < 5; failing++) {
            int place = failing;
            List<Integer> broken = new ArrayList<>();
            done.clear();
            try (Carillon client = client((order, flow) -> {
                for (int i = 0; i < 5; i++) {
                    int number = i;
                    flow.run(PICK.key("" + i), step -> {
                        if (number == place && broken.isEmpty()) {
                            broken.add(step.failures());
                            throw new IllegalStateException("broken");
                        }
                        done.add("pick " + number);
                        return number;
                    });
                    if (number == place && broken.size() == 1) {
                        broken.add(0);
                        throw new IllegalStateException("broken after the step");
                    }
                }
                return null;
            })) {
                assertThat(run(client, start(client)).state()).isEqualTo(RunState.SUCCEEDED);
            }
            assertThat(broken).hasSize(2);
            assertThat(done).containsExactly("pick 0", "pick 1", "pick 2", "pick 3", "pick 4");
        }
    }

    @Test
    void a_month_of_sleeps_holds_nothing_and_no_sleep_ends_early() {
        List<Instant> woken = new CopyOnWriteArrayList<>();
        Carillon client = client((order, flow) -> {
            for (int day = 1; day <= 30; day++) {
                flow.sleep("day-" + day, Duration.ofDays(1));
                flow.run(PICK.key("day " + day), step -> {
                    woken.add(fixture.database().clock().now());
                    return 1;
                });
            }
            return null;
        });
        RunId id = start(client);
        for (int day = 1; day <= 30; day++) {
            assertThat(run(client, id).state()).isEqualTo(RunState.WAITING);
            fixture.database().clock().advance(Duration.ofDays(1).minusMillis(1));
            client.runDue(BUDGET);
            assertThat(woken).hasSize(day - 1);
            fixture.database().clock().advance(Duration.ofMillis(1));
            client.runDue(BUDGET);
            assertThat(woken).hasSize(day);
        }
        assertThat(client.runs().get(id).orElseThrow().state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(client.runs().get(id).orElseThrow().failures()).isZero();
    }

    @Test
    void a_step_is_tried_as_often_as_its_own_settings_say() {
        Carillon client = client((order, flow) -> {
            for (String key : List.of("a", "b"))
                flow.run(CHARGE.key(key).retry(AT_ONCE.attempts(3)), step -> {
                    done.add(key + step.failures());
                    if (step.failures() < 2) throw new IllegalStateException("declined");
                    return key;
                });
            return null;
        });

        assertThat(run(client, start(client)).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(done).containsExactly("a0", "a1", "a2", "b0", "b1", "b2");
    }

    @Test
    void a_step_that_failed_finally_ends_the_workflow_or_is_caught() {
        Step<String> once = CHARGE.retry(Retry.none());
        Carillon client = client((order, flow) -> {
            try {
                flow.run(once, step -> {
                    done.add("charge");
                    throw new IllegalStateException("declined");
                });
            } catch (StepFailedException failed) {
                done.add(failed.step());
            }
            flow.sleep("later", Duration.ofHours(1));
            flow.run(once.key("again"), step -> {
                throw new IllegalStateException("declined again");
            });
            return null;
        });
        RunId id = start(client);
        assertThat(run(client, id).state()).isEqualTo(RunState.WAITING);
        fixture.database().clock().advance(Duration.ofHours(1));

        Run ended = run(client, id);

        assertThat(ended.state()).isEqualTo(RunState.DEAD);
        assertThat(ended.details().reason())
                .startsWith("Step 'charge[again]' failed: java.lang.IllegalStateException: declined again");
        assertThat(done).containsExactly("charge", "charge", "charge");
    }

    @Test
    void time_and_random_values_do_not_change() {
        Set<String> seen = new HashSet<>();
        List<Integer> executions = new ArrayList<>();
        Carillon client = client((order, flow) -> {
            executions.add(1);
            String values = flow.now() + " " + flow.random() + " " + flow.uuid() + " " + flow.uuid();
            charge(flow);
            values += " " + flow.now() + " " + flow.random();
            seen.add(values);
            flow.sleep("pause", Duration.ofHours(1));
            return values + flow.now();
        });
        RunId id = start(client);
        run(client, id);
        fixture.database().clock().advance(Duration.ofHours(2));

        assertThat(run(client, id).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(executions).hasSize(2);
        assertThat(seen).hasSize(1);
    }

    @Test
    void changed_code_fails_with_what_is_recorded_and_what_it_asks_for() {
        assertThat(afterChange((order, flow) -> flow.run(PICK, step -> 1)))
                .contains("position 0 is recorded as step 'charge', but the code asks for step 'pick'");
        assertThat(afterChange((order, flow) -> {
                    flow.sleep("charge", Duration.ZERO);
                    return null;
                }))
                .contains("position 0 is recorded as step 'charge', but the code asks for sleep 'charge'");
        assertThat(afterChange((order, flow) -> null))
                .contains("position 0 is recorded as 'charge', but the code has returned");
        assertThat(done).containsExactly("charge", "charge", "charge");
    }

    private String afterChange(Workflow<Order, ?> changed) {
        Carillon before = client((order, flow) -> {
            charge(flow);
            flow.sleep("pause", Duration.ofHours(1));
            return null;
        });
        RunId id = start(before);
        run(before, id);
        fixture.database().clock().advance(Duration.ofHours(1));
        Run ended = run(client(changed), id);
        assertThat(ended.state()).isEqualTo(RunState.DEAD);
        return String.valueOf(ended.details().reason());
    }

    @Test
    void a_workflow_follows_the_version_of_a_change_with_which_it_began() {
        Workflow<Order, String> old = (order, flow) -> {
            flow.sleep("pause", Duration.ofHours(1));
            charge(flow);
            flow.sleep("end", Duration.ofHours(1));
            return "old";
        };
        Workflow<Order, String> changed = (order, flow) -> {
            flow.sleep("pause", Duration.ofHours(1));
            int version = flow.version("pick-first", 0, 1);
            if (version == 1) flow.run(PICK, step -> 1);
            charge(flow);
            flow.sleep("end", Duration.ofHours(1));
            return "version " + version;
        };
        Carillon before = client(old);
        RunId beyond = start(before);
        run(before, beyond);
        fixture.database().clock().advance(Duration.ofHours(1));
        run(before, beyond);
        RunId reaches = start(before);
        run(before, reaches);
        before.close();
        Carillon client = client(changed);
        for (int hour = 0; hour < 2; hour++) {
            fixture.database().clock().advance(Duration.ofHours(1));
            client.runDue(BUDGET);
        }

        assertThat(client.runs().result(beyond, String.class)).contains("version 0");
        assertThat(client.runs().result(reaches, String.class)).contains("version 1");
    }

    @Test
    void a_version_that_the_code_no_longer_supports_fails_with_a_clear_error() {
        Carillon before = client((order, flow) -> {
            flow.version("pick-first", 0, 1);
            flow.sleep("pause", Duration.ofHours(1));
            return null;
        });
        RunId id = start(before);
        run(before, id);
        before.close();
        fixture.database().clock().advance(Duration.ofHours(1));
        Carillon client = client((order, flow) -> {
            flow.version("pick-first", 2, 3);
            return null;
        });

        assertThat(run(client, id).details().reason())
                .contains("change 'pick-first' is recorded with version 1, but the code supports 2 to 3");
    }

    @Test
    void a_wrong_use_of_the_flow_fails_with_a_clear_error() throws Exception {
        assertThat(reason((order, flow) -> charge(flow) + charge(flow)))
                .contains("'charge' is used twice in this workflow. Give each call another key or name.");
        assertThat(reason((order, flow) -> flow.run(CHARGE.retry(Retry.none()), step -> charge(flow))))
                .contains("'charge' was called inside step 'charge'. A step must not use the flow.");
        assertThat(reason((order, flow) -> {
                    List<Throwable> thrown = new CopyOnWriteArrayList<>();
                    Thread other = new Thread(() -> charge(flow));
                    other.setUncaughtExceptionHandler((thread, failure) -> thrown.add(failure));
                    other.start();
                    other.join();
                    throw (Exception) thrown.get(0);
                }))
                .contains("'charge' was called by another thread. Only the thread of the workflow may use the flow.");
        assertThat(reason((order, flow) -> {
                    flow.sleep("too long", Duration.ofDays(40_000));
                    return null;
                }))
                .contains("sleep");
        assertThat(reason((order, flow) -> flow.run(CHARGE, step -> "x".repeat(1024 * 1024))))
                .contains("The result has 1048578 bytes; at most 1048576 bytes are recorded.");
        assertThat(reason((order, flow) -> {
                    for (int i = 0; i < 17; i++) flow.run(CHARGE.key("" + i), step -> "x".repeat(1024 * 1024 - 2));
                    return null;
                }))
                .isEqualTo("A workflow can record at most 16 MiB of results. Start another workflow for the rest.");
    }

    private String reason(Workflow<Order, ?> workflow) {
        Carillon client = client(workflow);
        Run ended = run(client, start(client));
        assertThat(ended.state()).isEqualTo(RunState.DEAD);
        client.close();
        return String.valueOf(ended.details().reason());
    }

    @Test
    void code_that_catches_everything_still_waits() {
        Carillon client = client((order, flow) -> {
            try {
                flow.sleep("pause", Duration.ofHours(1));
            } catch (Throwable caught) {
                done.add("caught");
            }
            return "done";
        });
        RunId id = start(client);

        assertThat(run(client, id).state()).isEqualTo(RunState.WAITING);
        fixture.database().clock().advance(Duration.ofHours(1));
        assertThat(run(client, id).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(done).containsExactly("caught");
    }

    @Test
    void a_key_starts_a_workflow_once_and_a_schedule_starts_it_with_its_payload() {
        Carillon client = client((order, flow) -> order.id());
        Enqueue once = Enqueue.now().uniqueKey("order-4711", Duration.ofDays(14));
        RunId id = client.enqueue(CHECKOUT.handlerType(), new Order("4711", 1), once)
                .run();
        run(client, id);
        assertThat(client.enqueue(CHECKOUT.handlerType(), new Order("4711", 1), once))
                .isEqualTo(new EnqueueResult.Duplicate(id));

        client.schedules()
                .upsert("nightly", When.every(Duration.ofHours(1)), CHECKOUT.handlerType(), new Order("n", 1));
        fixture.database().clock().advance(Duration.ofHours(1));
        client.runDue(BUDGET);

        assertThat(fixture.query("SELECT convert_from(result, 'UTF8') FROM carillon.run_history WHERE origin = 'tick'"
                                + " AND state = 'succeeded'")
                        .texts())
                .contains("\"n\"");
    }

    @Test
    void an_event_starts_a_workflow_whose_input_it_is() {
        EventType<Order> placed = Topic.named("orders").event("order.placed", Order.class);
        Carillon client = fixture.client(builder -> builder.subscribeWorkflow(
                "confirm",
                placed,
                (event, flow) ->
                        flow.run(CHARGE, step -> "charged " + event.data().id() + event.key()),
                Subscribe.inAnyOrder()));
        client.publish(placed.of(new Order("4711", 1)).key("ann"));

        client.runDue(BUDGET);

        List<Run> runs = client.runs().list(RunFilter.all().handler("confirm"));
        assertThat(runs).hasSize(1);
        assertThat(client.runs().result(runs.get(0).id(), String.class)).contains("charged 4711ann");
        assertThat(client.runs().steps(runs.get(0).id())).hasSize(1);
    }

    @Test
    void a_workflow_that_no_live_node_has_waits_and_health_names_it() {
        fixture.database().clock().useRealTime();
        Carillon node = fixture.node(builder -> builder);
        RunId id = node.start(CHECKOUT, new Order("1", 1), Start.id("order-1")).run();

        ApiFixture.eventually()
                .untilAsserted(() -> assertThat(node.health().issues().toString())
                        .contains("for the handler 'checkout', which no live node has"));
        assertThat(node.runs().get(id).orElseThrow().details().parked()).isEqualTo("no-handler");

        fixture.node(builder -> builder.workflow(CHECKOUT, (order, flow) -> "done"));
        awaitState(node, id, RunState.SUCCEEDED);
    }

    @Test
    void a_cancel_starts_no_further_step() {
        fixture.database().clock().useRealTime();
        List<RunId> self = new CopyOnWriteArrayList<>();
        Carillon node = fixture.node(builder -> builder.workflow(CHECKOUT, (order, flow) -> {
            flow.run(CHARGE, step -> {
                self.add(flow.id());
                while (!step.isStopRequested()) Thread.onSpinWait();
                return "charged";
            });
            done.add("after");
            flow.run(PICK, step -> {
                done.add("pick");
                return 1;
            });
            return null;
        }));
        RunId id = start(node);
        ApiFixture.eventually().until(() -> !self.isEmpty());

        node.runs().cancel(id, "enough");

        awaitState(node, id, RunState.CANCELLED);
        assertThat(done).doesNotContain("pick");
        assertThat(fixture.query("SELECT path FROM carillon.workflow_step").texts())
                .containsExactly("charge");
    }

    @Test
    void another_node_continues_after_a_death_and_the_dead_one_records_nothing() {
        fixture.database().clock().useRealTime();
        CountDownLatch release = new CountDownLatch(1);
        Workflow<Order, String> workflow = (order, flow) -> charge(flow)
                + flow.run(PICK, step -> {
                    boolean first = !done.contains("pick");
                    done.add("pick");
                    if (first) Uninterruptibles.await(release);
                    return first ? 1 : 2;
                })
                + flow.run(PICK.key("last"), step -> 3);
        List<Carillon> nodes = Stream.generate(() -> fixture.node(
                        builder -> builder.config(ApiFixture.quickHeartbeats()).workflow(CHECKOUT, workflow)))
                .limit(2)
                .toList();
        RunId id = start(nodes.get(0));
        ApiFixture.eventually().until(() -> done.contains("pick"));

        fixture.database()
                .execute("UPDATE carillon.node SET dead_at = carillon.clock(), dead_reason = 'test'"
                        + " WHERE id = (SELECT owner FROM carillon.run)");

        awaitState(nodes.get(0), id, RunState.SUCCEEDED);
        release.countDown();
        assertThat(nodes.get(0).runs().result(id, String.class)).contains(id + "/charge23");
        assertThat(done).containsExactly("charge", "pick", "pick");
        nodes.forEach(Carillon::close);
        assertThat(fixture.query("SELECT convert_from(value, 'UTF8') FROM carillon.workflow_step ORDER BY position")
                        .texts())
                .endsWith("2", "3")
                .hasSize(3);
    }

    private static final class Uninterruptibles {
        static void await(CountDownLatch latch) {
            while (true)
                try {
                    latch.await();
                    return;
                } catch (InterruptedException stopped) {
                    // The handler of a dead node that ignores its stop.
                }
        }
    }

    @Test
    void waiting_counts_no_failure() {
        Carillon client = client((order, flow) -> {
            flow.sleep("pause", Duration.ofHours(1));
            return null;
        });
        RunId id = start(client);
        run(client, id);

        assertThat(client.runs().attempts(id))
                .extracting(AttemptRecord::outcome)
                .doesNotContain("failed");
        assertThat(client.runs().get(id).orElseThrow().failures()).isZero();
    }
}
