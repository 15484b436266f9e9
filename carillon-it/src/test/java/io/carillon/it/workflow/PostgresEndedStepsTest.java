package io.carillon.it.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.WorkflowStepStore.Holder;
import io.carillon.internal.store.run.WorkflowStepStore.NewStep;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunId;
import io.carillon.workflow.RecordedStep;
import io.carillon.workflow.RecordedStep.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The records of workflows that have ended: maintenance moves them to the history, where they stay readable. */
class PostgresEndedStepsTest extends StoreContract {
    private static final Duration MONTH = Duration.ofDays(30);

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    /** Claims a new run and records a step with a value, one that failed, and a sleep of three days. */
    private Attempt recorded(UUID node) {
        enqueue(RunSpec.mail());
        Attempt attempt = claimOne(node);
        Holder holder = new Holder(PROJECT, attempt.run(), node, attempt.number());
        for (NewStep step : List.of(
                new NewStep(0, "charge", bytes("\"paid\""), null, null),
                new NewStep(1, "pick[a b]", null, "empty", null),
                new NewStep(2, "cool-off", null, null, Duration.ofDays(3))))
            storage().workflowSteps().record(holder, step);
        return attempt;
    }

    private RunId ended(UUID node, Transition transition) {
        Attempt attempt = recorded(node);
        apply(node, attempt, transition);
        return attempt.run();
    }

    private List<RecordedStep> steps(RunId run) {
        return storage().runAdmin().steps(PROJECT, run, 0, 100);
    }

    private int purge() {
        return storage().maintenance().purge(MONTH, MONTH);
    }

    private static long count(String table) {
        return FIXTURE.query("SELECT count(*) FROM carillon." + table).number();
    }

    @Test
    void the_move_changes_nothing_of_what_is_read() {
        RunId run = ended(node(), complete());
        List<RecordedStep> before = steps(run);

        assertThat(purge()).isEqualTo(3);

        assertThat(count("workflow_step")).isZero();
        assertThat(steps(run)).isEqualTo(before);
        assertThat(before)
                .extracting(RecordedStep::state)
                .containsExactly(State.SUCCEEDED, State.FAILED, State.CANCELLED);
        advance(Duration.ofDays(4));
        assertThat(steps(run)).as("a sleep that was cut short stays so").isEqualTo(before);
        assertThat(storage().runAdmin().step(PROJECT, run, 0)).contains(before.get(0));
    }

    @Test
    void records_of_runs_that_live_stay() {
        UUID node = node();
        Attempt lives = recorded(node);
        RunId dead = ended(node, new Transition.MarkDead("no"));

        purge();

        assertThat(FIXTURE.query("SELECT DISTINCT run_id FROM carillon.workflow_step")
                        .texts())
                .containsExactly(lives.run().value().toString());
        assertThat(steps(lives.run())).hasSize(3);
        assertThat(steps(dead)).hasSize(3);
        assertThat(purge()).isZero();
    }

    @Test
    void an_await_waits_until_a_later_record_answers_it() {
        FIXTURE.database()
                .execute("ALTER TABLE carillon.workflow_step DROP CONSTRAINT IF EXISTS workflow_step_kind_check");
        UUID node = node();
        Attempt attempt = recorded(node);
        String insert = "INSERT INTO carillon.workflow_step (project, run_id, position, path, kind, owner, attempt,"
                + " failures, until, recorded_at) SELECT project, run_id, %d, 'approval', '%s', owner, attempt, 0,"
                + " carillon.clock() + interval '7 days', carillon.clock() FROM carillon.workflow_step"
                + " WHERE position = 0";
        FIXTURE.database().execute(insert.formatted(3, "await"));
        assertThat(state(attempt.run(), 3)).isEqualTo(State.WAITING);

        FIXTURE.database().execute(insert.formatted(4, "signal").replace("interval '7 days'", "NULL::interval"));
        FIXTURE.database().execute(insert.formatted(5, "await-run"));
        assertThat(state(attempt.run(), 3)).isEqualTo(State.SUCCEEDED);
        assertThat(state(attempt.run(), 5)).isEqualTo(State.WAITING);

        apply(node, attempt, new Transition.Cancel("enough"));
        assertThat(state(attempt.run(), 5)).isEqualTo(State.CANCELLED);
        FIXTURE.database().execute("UPDATE carillon.workflow_step SET kind = 'step', until = NULL WHERE position > 2");
    }

    private State state(RunId run, int position) {
        return storage().runAdmin().step(PROJECT, run, position).orElseThrow().state();
    }

    @Test
    void retention_drops_the_records_with_the_run() {
        RunId run = ended(node(), complete());
        purge();
        advance(Duration.ofDays(20));

        storage().maintenance().dropHistory(Duration.ofDays(14));

        assertThat(storage().runAdmin().get(PROJECT, run)).isEmpty();
        assertThat(steps(run)).isEmpty();
        assertThat(count("workflow_step_history")).isZero();
    }

    @Test
    void records_whose_run_has_left_the_history_are_deleted() {
        RunId run = ended(node(), complete());
        FIXTURE.database().execute("DELETE FROM carillon.run_history");

        assertThat(purge()).isEqualTo(3);

        assertThat(steps(run)).isEmpty();
        assertThat(count("workflow_step") + count("workflow_step_history")).isZero();
    }

    @Test
    void a_missing_partition_is_created() {
        RunId run = ended(node(), complete());
        FIXTURE.query("""
                        SELECT relname FROM pg_class WHERE relnamespace = 'carillon'::regnamespace AND relkind = 'r'
                          AND relname ~ '^workflow_step_history_[0-9]{8}$'
                        """).texts().forEach(table -> FIXTURE.database().execute("DROP TABLE carillon." + table));

        assertThat(purge()).isEqualTo(3);

        assertThat(steps(run)).hasSize(3);
    }

    @Test
    void concurrent_moves_and_readers_lose_and_repeat_nothing() {
        UUID node = node();
        List<RunId> runs = new ArrayList<>();
        for (int i = 0; i < 20; i++) runs.add(ended(node, complete()));

        List<Integer> moved = Concurrently.run(4, thread -> {
            if (thread < 2) return purge();
            for (RunId run : runs) assertThat(steps(run)).hasSize(3);
            return 0;
        });

        assertThat(moved.stream().mapToInt(Integer::intValue).sum() + purge()).isEqualTo(60);
        assertThat(runs).allSatisfy(run -> assertThat(steps(run)).hasSize(3));
    }

    @Test
    void many_records_are_moved_in_parts() {
        UUID node = node();
        RunId first = ended(node, complete());
        RunId second = ended(node, complete());
        FIXTURE.database()
                .execute(
                        "INSERT INTO carillon.workflow_step SELECT project, run_id, n, path || n, kind, owner, attempt,"
                                + " failures, codec, value, error, until, recorded_at FROM carillon.workflow_step,"
                                + " generate_series(3, 5999) n WHERE position = 0");

        assertThat(purge()).isEqualTo(12_000);

        assertThat(count("workflow_step")).isZero();
        assertThat(storage().runAdmin().steps(PROJECT, first, 5_990, 100)).hasSize(10);
        assertThat(storage().runAdmin().steps(PROJECT, second, 0, 7)).hasSize(7);
    }
}
