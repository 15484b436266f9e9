package io.carillon.it.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.Explanation;
import io.carillon.run.HandlerType;
import io.carillon.run.RedriveResult;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.carillon.workflow.RecordedStep;
import io.carillon.workflow.RecordedStep.State;
import io.carillon.workflow.Signal;
import io.carillon.workflow.Step;
import io.carillon.workflow.StepFailedException;
import io.carillon.workflow.Workflow;
import io.carillon.workflow.WorkflowType;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The recorded steps of a workflow, as an application reads them. */
@CarillonTest
class RecordedStepsTest {
    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");
    private static final Duration BUDGET = Duration.ofSeconds(30);
    private static final WorkflowType<Integer> CHECKOUT = WorkflowType.of("checkout", Integer.class);
    private static final Step<String> CHARGE = Step.of("charge", String.class).retry(Retry.none());
    private static final Signal<String> APPROVAL = Signal.of("approval", String.class);
    private final ApiFixture fixture;
    private final TestDatabase database;

    RecordedStepsTest(TestDatabase database) {
        this.database = database;
        fixture = new ApiFixture(database);
        database.clock().stopAt(NOON);
    }

    @AfterEach
    void close() {
        fixture.close();
        database.clock().useRealTime();
    }

    private Carillon client(Workflow<Integer, ?> workflow) {
        return fixture.client(builder -> builder.workflow(CHECKOUT, workflow));
    }

    private static RunId run(Carillon client, int input) {
        RunId run = client.enqueue(CHECKOUT.handlerType(), input).run();
        client.runDue(BUDGET);
        return run;
    }

    private static String text(RecordedStep step) {
        return step.value() == null ? "" : new String(step.value().bytes(), StandardCharsets.UTF_8);
    }

    @Test
    void show_name_key_state_value_and_times() {
        Carillon client = client((input, flow) -> {
            flow.run(CHARGE, step -> "paid");
            try {
                flow.run(CHARGE.key("gift [a]"), step -> {
                    throw new IllegalStateException("declined");
                });
            } catch (StepFailedException failed) {
                // The workflow continues.
            }
            flow.run(Step.of("tell", Void.class), step -> null);
            flow.sleep("cooling-off", Duration.ofDays(3));
            return "done";
        });
        RunId run = run(client, 1);

        List<RecordedStep> steps = client.runs().steps(run);

        assertThat(steps).extracting(RecordedStep::position).containsExactly(0, 1, 2, 3);
        assertThat(steps).extracting(RecordedStep::name).containsExactly("charge", "charge", "tell", "cooling-off");
        assertThat(steps).extracting(RecordedStep::key).containsExactly(null, "gift [a]", null, null);
        assertThat(steps).extracting(RecordedStep::kind).containsExactly("step", "step", "step", "sleep");
        assertThat(steps)
                .extracting(RecordedStep::state)
                .containsExactly(State.SUCCEEDED, State.FAILED, State.SUCCEEDED, State.WAITING);
        assertThat(steps).extracting(RecordedStepsTest::text).containsExactly("\"paid\"", "", "", "");
        assertThat(steps.get(0).valueBytes()).isEqualTo(6);
        assertThat(steps.get(1).error()).contains("declined");
        assertThat(steps).extracting(RecordedStep::recordedAt).containsOnly(NOON);
        assertThat(steps.get(3).until()).isEqualTo(NOON.plus(Duration.ofDays(3)));

        database.clock().advance(Duration.ofDays(3));
        assertThat(client.runs().step(run, 3)).map(RecordedStep::state).contains(State.SUCCEEDED);
    }

    @Test
    void a_retried_workflow_continues_with_the_step_that_failed() {
        List<String> executed = new CopyOnWriteArrayList<>();
        HandlerType<Integer> mail = HandlerType.of("mail", Integer.class);
        List<RunId> mails = new CopyOnWriteArrayList<>();
        Step<String> pick = Step.of("pick", String.class).retry(Retry.none());
        Carillon client = fixture.client(builder -> builder.handle(mail, (input, run) -> {})
                .workflow(CHECKOUT, (input, flow) -> {
                    flow.run(CHARGE, step -> executed.add("charge") ? "paid" : "");
                    flow.awaitRun(mails.get(0), String.class);
                    return flow.run(pick, step -> {
                        if (executed.add("pick") && executed.size() < 3) throw new IllegalStateException("sold out");
                        return "picked " + executed;
                    });
                }));
        mails.add(client.enqueue(mail, 1).run());
        for (boolean moved : List.of(false, true)) {
            executed.clear();
            RunId dead = run(client, 1);
            if (moved) {
                database.execute("INSERT INTO carillon.workflow_step_history SELECT s.*, h.day"
                        + " FROM carillon.workflow_step s JOIN carillon.run_history h ON h.id = s.run_id");
                database.execute("DELETE FROM carillon.workflow_step");
            }

            RedriveResult retried = client.runs().retry(dead);

            RunId again = ((RedriveResult.Redriven) retried).run();
            client.runDue(BUDGET);
            assertThat(client.runs().result(again, String.class)).contains("picked [charge, pick, pick]");
            assertThat(client.runs().steps(again))
                    .extracting(RecordedStep::position, RecordedStep::name, RecordedStep::state)
                    .startsWith(tuple(0, "charge", State.SUCCEEDED))
                    .endsWith(tuple(3, "pick", State.SUCCEEDED))
                    .hasSize(4);
            assertThat(client.runs().steps(dead)).hasSize(4);
        }
    }

    @Test
    void a_dead_workflow_without_history_is_not_retried_from_the_start() {
        List<String> executed = new CopyOnWriteArrayList<>();
        Carillon client = client((input, flow) -> {
            flow.run(CHARGE, step -> executed.add("charge") ? "paid" : "");
            return flow.run(CHARGE.key("gift"), step -> {
                throw new IllegalStateException("declined");
            });
        });
        RunId dead = run(client, 1);
        database.execute("DELETE FROM carillon.workflow_step");
        database.execute("DELETE FROM carillon.run_history");

        assertThatThrownBy(() -> client.runs().retry(dead))
                .hasMessageContaining("%s ended so long ago".formatted(dead))
                .hasFieldOrPropertyWithValue("code", ErrorCode.HISTORY_DROPPED);

        client.runDue(BUDGET);
        assertThat(executed).containsExactly("charge");
        assertThat(client.runs().redrive(dead)).isInstanceOf(RedriveResult.Redriven.class);
    }

    @Test
    void a_workflow_whose_steps_were_undone_is_retried_from_the_start() {
        List<String> executed = new CopyOnWriteArrayList<>();
        Carillon client = client((input, flow) -> {
            flow.run(CHARGE, step -> executed.add("charge") ? "paid" : "", (paid, step) -> executed.add("undo"));
            flow.run(CHARGE.key("gift"), step -> {
                if (executed.size() < 3) throw new IllegalStateException("declined");
                return "given";
            });
            return null;
        });
        RunId dead = run(client, 1);

        client.runs().retry(dead);
        client.runDue(BUDGET);

        assertThat(executed).containsExactly("charge", "undo", "charge");
    }

    @Test
    void workflows_whose_code_does_not_match_their_records_are_listed() {
        Carillon before = client((input, flow) -> {
            flow.run(CHARGE, step -> "paid");
            if (input == 2) throw new IllegalStateException("bug");
            flow.sleep("day", Duration.ofDays(1));
            return null;
        });
        RunId stuck = run(before, 1);
        run(before, 2);
        before.close();
        Carillon client = client((input, flow) -> flow.run(input == 2 ? CHARGE : CHARGE.key("other"), step -> "paid"));
        database.clock().advance(Duration.ofDays(1));

        client.runDue(BUDGET);

        assertThat(client.runs().page(RunQuery.stuckWorkflows(RunFilter.all())))
                .extracting(Run::id)
                .containsExactly(stuck);
        assertThat(client.runs().page(RunQuery.stuckWorkflows(RunFilter.all().handler("other"))))
                .isEmpty();
    }

    private static String states(List<RecordedStep> steps) {
        return steps.stream()
                .map(step -> step.kind() + " " + step.state())
                .toList()
                .toString();
    }

    @Test
    void waits_answers_and_undos_say_what_they_are() {
        HandlerType<Integer> mail = HandlerType.of("mail", Integer.class);
        List<RunId> mails = new CopyOnWriteArrayList<>();
        Carillon client = fixture.client(builder -> builder.handle(mail, (input, run) -> {})
                .workflow(CHECKOUT, (input, flow) -> {
                    flow.version("pick-first", 0, 1);
                    flow.run(CHARGE, step -> "paid", (paid, step) -> {});
                    flow.await(APPROVAL, Duration.ofDays(7));
                    flow.await(APPROVAL, Duration.ofHours(1));
                    flow.awaitRun(mails.get(0), String.class);
                    flow.await(APPROVAL, Duration.ofDays(1));
                    return null;
                }));
        mails.add(client.enqueue(mail, 1, Enqueue.after(Duration.ofHours(2))).run());
        RunId run = run(client, 1);

        assertThat(client.runs().steps(run))
                .extracting(RecordedStep::description)
                .containsExactly(
                        "follows a version of change pick-first",
                        "has an undo",
                        "done",
                        "waits for signal approval until 2026-03-09T12:00:00Z");
        Explanation explained = client.runs().explain(run).orElseThrow();
        assertThat(explained.summary())
                .isEqualTo("It waits: it waits for signal 'approval' until 2026-03-09T12:00:00Z.");
        assertThat(explained.signal()).isEqualTo("approval");
        assertThat(explained.blockers()).noneMatch(reason -> reason.contains("ready at"));

        client.workflow(run).signal(APPROVAL, "yes");
        client.runDue(BUDGET);
        database.clock().advance(Duration.ofHours(1));
        client.runDue(BUDGET);
        assertThat(client.runs().steps(run, 7, 1))
                .extracting(RecordedStep::description)
                .containsExactly("waits for run " + mails.get(0));
        explained = client.runs().explain(run).orElseThrow();
        assertThat(explained.summary()).isEqualTo("It waits: it waits for the end of run " + mails.get(0) + ".");
        assertThat(explained.signal()).isNull();
        assertThat(explained.blockers()).noneMatch(reason -> reason.contains("ready at"));

        database.clock().advance(Duration.ofHours(1));
        client.runDue(BUDGET);
        client.runDue(BUDGET);
        assertThat(client.runs().explain(run)).map(Explanation::signal).contains("approval");
        client.runs().cancel(run, "sold out");
        client.runDue(BUDGET);

        List<RecordedStep> steps = client.runs().steps(run);
        assertThat(steps)
                .extracting(RecordedStep::description)
                .containsExactly(
                        "follows a version of change pick-first",
                        "has an undo",
                        "done",
                        "waited for signal approval",
                        "signal approval arrived",
                        "waited for signal approval until 2026-03-02T13:00:00Z",
                        "timed out",
                        "waited for run " + mails.get(0),
                        "run " + mails.get(0) + " ended",
                        "no longer waits for signal approval",
                        "the workflow was cancelled; its steps are undone",
                        "undone");
        assertThat(states(steps))
                .isEqualTo("[version SUCCEEDED, undo SUCCEEDED, step SUCCEEDED, await SUCCEEDED, signal SUCCEEDED,"
                        + " await TIMED_OUT, timeout TIMED_OUT, await-run SUCCEEDED, run-ended SUCCEEDED,"
                        + " await CANCELLED, compensate CANCELLED, undone SUCCEEDED]");
        assertThat(steps.get(5).name()).isEqualTo("approval");
        assertThat(steps.get(5).key()).isEqualTo("2");
        assertThat(steps.get(10).error()).isEqualTo("sold out");
        assertThat(client.runs().steps(run, 5, 1))
                .as("the record behind a page says how a wait ended")
                .containsExactly(steps.get(5));
    }

    @Test
    void an_explanation_says_how_long_a_workflow_sleeps_and_when_it_tries_a_step_again() {
        Step<String> flaky =
                CHARGE.retry(Retry.exponential(Duration.ofMinutes(1)).attempts(3));
        Carillon client = client((input, flow) -> {
            flow.sleep("cooling-off", Duration.ofDays(3));
            return flow.run(flaky, step -> {
                throw new IllegalStateException("declined");
            });
        });
        RunId run = run(client, 1);

        assertThat(client.runs().explain(run))
                .map(Explanation::summary)
                .contains("It waits: it is asleep until 2026-03-05T12:00:00Z (sleep 'cooling-off').");
        database.clock().advance(Duration.ofDays(3));
        client.runDue(BUDGET);
        assertThat(client.runs().explain(run).orElseThrow().blockers())
                .anyMatch(reason -> reason.startsWith("it is ready at 2026-03-05T12:0"))
                .noneMatch(reason -> reason.contains("asleep"));
    }

    @Test
    void a_long_value_is_read_by_its_position() {
        Carillon client = client((input, flow) -> {
            for (int i = 0; i < 2; i++) {
                int length = RecordedStep.MAX_SHOWN_BYTES - 2 + i;
                flow.run(CHARGE.key("" + i), step -> "x".repeat(length));
            }
            return null;
        });
        RunId run = run(client, 1);

        List<RecordedStep> steps = client.runs().steps(run);

        assertThat(text(steps.get(0))).hasSize(RecordedStep.MAX_SHOWN_BYTES);
        assertThat(steps.get(1).value()).isNull();
        assertThat(steps.get(1).valueBytes()).isEqualTo(RecordedStep.MAX_SHOWN_BYTES + 1);
        assertThat(text(client.runs().step(run, 1).orElseThrow())).hasSize(RecordedStep.MAX_SHOWN_BYTES + 1);
        assertThat(client.runs().step(run, 2)).isEmpty();
    }

    @Test
    void are_read_in_pages_of_their_project_and_in_a_transaction() throws SQLException {
        Carillon client = client((input, flow) -> {
            for (int i = 0; i < input; i++) flow.run(CHARGE.key("" + i), step -> "paid");
            return null;
        });
        RunId run = run(client, 5);

        assertThat(client.runs().steps(run, 2, 2)).extracting(RecordedStep::key).containsExactly("2", "3");
        assertThat(client.runs().steps(run, 4, 2)).extracting(RecordedStep::key).containsExactly("4");
        assertThat(client.project("other").runs().steps(run)).isEmpty();
        assertThat(client.runs().steps(RunId.generate())).isEmpty();
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            assertThat(client.in(connection).runs().steps(run)).hasSize(5);
        }
    }

    @Test
    void workflows_are_found_among_other_runs() {
        HandlerType<Integer> mail = HandlerType.of("mail", Integer.class);
        Carillon client = fixture.client(builder -> builder.handle(mail, (input, run) -> {})
                .workflow(CHECKOUT, (input, flow) -> {
                    flow.run(CHARGE, step -> "paid");
                    if (input == 1) flow.sleep("later", Duration.ofDays(1));
                    return null;
                }));
        RunId asleep = run(client, 1);
        RunId ended = run(client, 2);
        client.enqueue(mail, 1);
        client.runDue(BUDGET);
        client.enqueue(mail, 2);
        RunId unstarted = client.enqueue(CHECKOUT.handlerType(), 3).run();
        RunQuery workflows = RunQuery.of(RunFilter.all()).workflow(true);

        assertThat(client.runs().page(workflows)).extracting(Run::id).containsExactly(ended, asleep);
        assertThat(client.runs().search(workflows))
                .isEqualTo(new RunQuery.Page(client.runs().page(workflows), null));
        assertThat(client.runs().page(RunQuery.of(RunFilter.all().handler("checkout"))))
                .as("a workflow has no record before it starts")
                .extracting(Run::id)
                .contains(unstarted);
    }

    @Test
    void bad_pages_are_rejected() {
        Carillon client = client((input, flow) -> null);
        RunId run = RunId.generate();
        assertThatThrownBy(() -> client.runs().steps(run, -1, 10))
                .isInstanceOf(CarillonException.class)
                .hasMessage("A position must not be negative (was -1).");
        assertThatThrownBy(() -> client.runs().steps(run, 0, 1_001))
                .hasMessage("limit must be between 1 and 1000 (was 1001).");
        assertThatThrownBy(() -> client.runs().steps(run, 0, 0))
                .hasMessage("limit must be between 1 and 1000 (was 0).");
        assertThatThrownBy(() -> client.runs().step(run, -1)).isInstanceOf(CarillonException.class);
    }
}
