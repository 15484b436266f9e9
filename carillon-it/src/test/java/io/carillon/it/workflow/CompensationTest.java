package io.carillon.it.workflow;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.CancelResult;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Step;
import io.carillon.workflow.StepFailedException;
import io.carillon.workflow.Workflow;
import io.carillon.workflow.WorkflowType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Workflows that undo their steps when they fail or are cancelled. Time stands still unless a test moves it. */
@CarillonTest
class CompensationTest {
    record Trip(String to) {}

    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");
    private static final Duration BUDGET = Duration.ofSeconds(30);
    private static final WorkflowType<Trip> BOOK = WorkflowType.of("book", Trip.class);
    private static final Retry AT_ONCE = Retry.exponential(Duration.ZERO);
    private static final Step<String> RESERVE = Step.of("reserve", String.class).retry(AT_ONCE.attempts(3));
    private static final Step<String> PAY = Step.of("pay", String.class).retry(Retry.none());
    private final ApiFixture fixture;
    /** What the steps and their undos did, in their order. */
    private final List<String> done = new CopyOnWriteArrayList<>();

    CompensationTest(TestDatabase database) {
        fixture = new ApiFixture(database);
        database.clock().stopAt(NOON);
    }

    @AfterEach
    void close() {
        fixture.close();
        fixture.database().clock().useRealTime();
    }

    private Carillon client(Workflow<Trip, ?> workflow) {
        HandlerOptions options = HandlerOptions.defaults().retry(AT_ONCE.attempts(3));
        return fixture.client(builder -> builder.workflow(BOOK, workflow, options));
    }

    private static RunId start(Carillon carillon) {
        return carillon.enqueue(BOOK.handlerType(), new Trip("oslo")).run();
    }

    private Run run(Carillon client, RunId id) {
        client.runDue(BUDGET);
        return client.runs().get(id).orElseThrow();
    }

    private void reserve(Flow flow, String what) {
        flow.run(
                RESERVE.key(what),
                step -> {
                    done.add("reserve " + what);
                    return what + " reserved";
                },
                (result, step) -> done.add("undo " + result));
    }

    private static void fail(Flow flow) {
        flow.run(PAY, step -> {
            throw new IllegalStateException("declined");
        });
    }

    @Test
    void a_workflow_that_fails_undoes_its_steps_in_reverse_order() {
        Carillon client = client((trip, flow) -> {
            reserve(flow, "hotel");
            flow.sleep("night", Duration.ofHours(8));
            reserve(flow, "flight");
            fail(flow);
            return null;
        });
        RunId id = start(client);
        run(client, id);
        fixture.database().clock().advance(Duration.ofHours(8));

        Run ended = run(client, id);

        assertThat(ended.state()).isEqualTo(RunState.DEAD);
        assertThat(ended.details().reason()).startsWith("Step 'pay' failed: java.lang.IllegalStateException: declined");
        assertThat(done)
                .containsExactly("reserve hotel", "reserve flight", "undo flight reserved", "undo hotel reserved");
    }

    @Test
    void an_exception_of_the_code_is_retried_before_anything_is_undone() {
        Carillon client = client((trip, flow) -> {
            reserve(flow, "hotel");
            done.add("code");
            throw new IllegalStateException("bug");
        });

        Run ended = run(client, start(client));

        assertThat(ended.details().reason()).startsWith("java.lang.IllegalStateException: bug");
        assertThat(done).containsExactly("reserve hotel", "code", "code", "code", "undo hotel reserved");
    }

    @Test
    void a_workflow_that_succeeds_or_catches_the_failure_undoes_nothing() {
        Carillon client = client((trip, flow) -> {
            reserve(flow, "hotel");
            try {
                fail(flow);
            } catch (StepFailedException failed) {
                return "unpaid";
            }
            return "paid";
        });

        assertThat(run(client, start(client)).state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(done).containsExactly("reserve hotel");
    }

    @Test
    void an_undo_is_tried_again_and_what_is_undone_is_not_undone_again() {
        Carillon client = client((trip, flow) -> {
            flow.run(RESERVE.key("car"), step -> "car", (result, step) -> {
                done.add("car " + step.failures());
                if (step.failures() < 2) throw new IllegalStateException("busy");
            });
            reserve(flow, "hotel");
            fail(flow);
            return null;
        });

        assertThat(run(client, start(client)).state()).isEqualTo(RunState.DEAD);
        assertThat(done).containsExactly("reserve hotel", "undo hotel reserved", "car 0", "car 1", "car 2");
    }

    @Test
    void an_undo_that_fails_finally_ends_the_workflow_and_says_so() {
        Carillon client = client((trip, flow) -> {
            reserve(flow, "hotel");
            flow.run(RESERVE.key("car").retry(Retry.none()), step -> "car", (result, step) -> {
                throw new IllegalStateException("no " + result);
            });
            fail(flow);
            return null;
        });

        Run ended = run(client, start(client));

        assertThat(ended.state()).isEqualTo(RunState.DEAD);
        assertThat(ended.details().reason())
                .startsWith("Compensation failed: step 'reserve[car]' was not undone: java.lang.IllegalStateException:"
                        + " no car")
                .contains("The workflow failed: Step 'pay' failed");
        assertThat(done).containsExactly("reserve hotel");
    }

    @Test
    void a_step_that_failed_is_undone_without_a_result() {
        Carillon client = client((trip, flow) -> {
            flow.run(
                    PAY,
                    step -> {
                        throw new IllegalStateException("declined");
                    },
                    (result, step) -> done.add(
                            "undo " + result + " " + step.idempotencyKey().endsWith("/pay/undo")));
            return null;
        });

        assertThat(run(client, start(client)).state()).isEqualTo(RunState.DEAD);
        assertThat(done).containsExactly("undo null true");
    }

    @Test
    void a_cancel_wakes_a_workflow_that_has_steps_to_undo() {
        Carillon client = client((trip, flow) -> {
            reserve(flow, "hotel");
            flow.sleep("night", Duration.ofDays(30));
            reserve(flow, "flight");
            return null;
        });
        for (boolean bulk : List.of(false, true)) {
            done.clear();
            RunId id = start(client);
            run(client, id);

            if (bulk)
                assertThat(client.runs()
                                .bulk(RunFilter.all().state(RunState.WAITING))
                                .cancel()
                                .done())
                        .isOne();
            else assertThat(client.runs().cancel(id, "enough")).isEqualTo(new CancelResult.Requested());
            assertThat(client.runs().get(id).orElseThrow().state()).isEqualTo(RunState.WAITING);

            Run ended = run(client, id);
            assertThat(ended.state()).isEqualTo(RunState.CANCELLED);
            if (!bulk) assertThat(ended.details().reason()).isEqualTo("enough");
            assertThat(done).containsExactly("reserve hotel", "undo hotel reserved");
        }
    }

    @Test
    void a_newer_tick_that_cancels_its_predecessor_starts_when_that_one_is_undone() {
        Carillon client = client((trip, flow) -> {
            reserve(flow, "hotel");
            flow.sleep("night", Duration.ofDays(30));
            return null;
        });
        client.schedules()
                .upsert(
                        "trips",
                        When.every(Duration.ofHours(1)),
                        BOOK.handlerType(),
                        new Trip("oslo"),
                        ScheduleOptions.defaults().overlap(OverlapPolicy.CANCEL_PREVIOUS));

        for (int hour = 0; hour < 2; hour++) {
            fixture.database().clock().advance(Duration.ofHours(1));
            client.runDue(BUDGET);
        }

        assertThat(fixture.query("SELECT state FROM carillon.run_history WHERE origin = 'tick'")
                        .texts())
                .containsExactly("cancelled");
        assertThat(done).containsExactly("reserve hotel", "undo hotel reserved", "reserve hotel");
    }

    @Test
    void a_workflow_without_steps_to_undo_is_cancelled_at_once() {
        Carillon client = client((trip, flow) -> {
            flow.run(PAY, step -> "paid");
            flow.sleep("night", Duration.ofDays(30));
            return null;
        });
        RunId id = start(client);
        run(client, id);

        assertThat(client.runs().cancel(id, "enough")).isEqualTo(new CancelResult.Cancelled());
    }

    @Test
    void a_cancel_stops_the_step_under_way_and_undoes_it() {
        fixture.database().clock().useRealTime();
        Carillon node = fixture.node(builder -> builder.workflow(BOOK, (trip, flow) -> {
            reserve(flow, "hotel");
            flow.run(
                    RESERVE.key("car"),
                    step -> {
                        done.add("car");
                        Thread.sleep(60_000);
                        return "car";
                    },
                    (result, step) -> {
                        // An undo is not stopped by the cancel.
                        Thread.sleep(50);
                        done.add("undo car " + result + step.isStopRequested());
                    });
            reserve(flow, "flight");
            return null;
        }));
        RunId id = start(node);
        ApiFixture.eventually().until(() -> done.contains("car"));

        node.runs().cancel(id, "enough");

        Run ended = awaitState(node, id, RunState.CANCELLED);
        assertThat(ended.details().reason()).isEqualTo("enough");
        assertThat(done).containsExactly("reserve hotel", "car", "undo car nullfalse", "undo hotel reserved");
    }

    @Test
    void a_cancelled_workflow_that_waits_on_a_node_is_undone_soon() {
        fixture.database().clock().useRealTime();
        Carillon node = fixture.node(builder -> builder.workflow(BOOK, (trip, flow) -> {
            reserve(flow, "hotel");
            flow.sleep("night", Duration.ofDays(30));
            return null;
        }));
        RunId id = start(node);
        ApiFixture.eventually()
                .until(() -> node.runs().get(id).orElseThrow().attempt() == 1
                        && node.runs().get(id).orElseThrow().state() == RunState.WAITING);

        assertThat(node.runs().cancel(id)).isEqualTo(new CancelResult.Requested());

        awaitState(node, id, RunState.CANCELLED);
        assertThat(done).containsExactly("reserve hotel", "undo hotel reserved");
    }

    @Test
    void an_undo_that_uses_the_flow_fails() {
        Carillon client = client((trip, flow) -> {
            flow.run(PAY, step -> "paid", (result, step) -> flow.sleep("night", Duration.ofDays(1)));
            throw new IllegalStateException("bug");
        });

        assertThat(run(client, start(client)).details().reason())
                .startsWith("Compensation failed: step 'pay' was not undone:");
    }
}
