package io.carillon.it.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.WorkflowStepStore.Holder;
import io.carillon.internal.store.run.WorkflowStepStore.NewStep;
import io.carillon.internal.store.run.WorkflowStepStore.StepRecord;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The records of workflows: written once, and only by the attempt that holds the run. */
class PostgresWorkflowStepTest extends StoreContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final NewStep FIRST = new NewStep(0, "charge", bytes("1"), null, null);

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    private Holder holder(UUID node, Attempt attempt) {
        return new Holder(PROJECT, attempt.run(), node, attempt.number());
    }

    @Test
    void a_record_is_read_back_as_it_was_written() {
        UUID node = node();
        enqueue(RunSpec.mail());
        Attempt attempt = claimOne(node);
        Holder holder = holder(node, attempt);

        List<StepRecord> written = List.of(
                storage().workflowSteps().record(holder, FIRST).orElseThrow(),
                storage()
                        .workflowSteps()
                        .record(holder, new NewStep(1, "cool-off", null, null, Duration.ofDays(3)))
                        .orElseThrow(),
                storage()
                        .workflowSteps()
                        .record(holder, new NewStep(2, "pick[a b]", null, "no\u0000", null))
                        .orElseThrow());

        List<StepRecord> read =
                storage().workflowSteps().load(PROJECT, attempt.run()).steps();
        assertThat(read.toString()).isEqualTo(written.toString());
        assertThat(read).extracting(StepRecord::path).containsExactly("charge", "cool-off", "pick[a b]");
        assertThat(read.get(1).until()).isEqualTo(StoreFixture.NOON.plus(Duration.ofDays(3)));
        assertThat(read.get(2).error()).isEqualTo("no\uFFFD");
    }

    @Test
    void an_attempt_that_lost_its_run_records_nothing() {
        UUID node = node();
        enqueue(RunSpec.mail());
        Attempt lost = claimOne(node);
        declareDead(node);
        rescue();
        UUID next = node();
        Attempt held = claimOne(next);

        assertThat(storage().workflowSteps().record(holder(node, lost), FIRST)).isEmpty();
        assertThat(storage().workflowSteps().record(holder(next, held), FIRST)).isPresent();
        // The record exists, but not by the attempt that asks.
        assertThat(storage().workflowSteps().record(holder(node, lost), FIRST)).isEmpty();
        apply(next, held, complete());
        assertThat(storage().workflowSteps().record(holder(next, held), new NewStep(1, "late", null, null, null)))
                .isEqualTo(Optional.empty());
    }

    @Test
    void several_records_are_written_together_or_not_at_all() {
        UUID node = node();
        enqueue(RunSpec.mail());
        Attempt lost = claimOne(node);
        List<NewStep> steps = List.of(
                new NewStep(2, "pick[b]", null, "empty", null), new NewStep(1, "pick[a]", bytes("1"), null, null));
        storage().workflowSteps().record(holder(node, lost), steps.get(1));
        declareDead(node);
        rescue();
        UUID next = node();
        Attempt held = claimOne(next);

        assertThat(storage().workflowSteps().recordAll(holder(node, lost), steps))
                .isEmpty();
        assertThat(storage()
                        .workflowSteps()
                        .recordAll(
                                holder(next, held),
                                List.of(steps.get(0), new NewStep(3, "pick[c]", bytes("3"), null, null))))
                .extracting(StepRecord::path)
                .containsExactly("pick[b]", "pick[c]");
        assertThat(storage().workflowSteps().load(PROJECT, held.run()).steps())
                .extracting(StepRecord::path)
                .containsExactly("pick[a]", "pick[b]", "pick[c]");
    }

    @Test
    void a_later_attempt_does_not_change_a_record() {
        UUID node = node();
        enqueue(RunSpec.mail());
        Attempt first = claimOne(node);
        storage().workflowSteps().record(holder(node, first), FIRST);
        apply(node, first, new Transition.Retry(Duration.ZERO, "no", false));
        Attempt second = claimOne(node);

        assertThat(storage().workflowSteps().record(holder(node, second), new NewStep(0, "other", null, null, null)))
                .isEmpty();

        assertThat(storage().workflowSteps().load(PROJECT, first.run()).steps())
                .extracting(StepRecord::path)
                .containsExactly("charge");
    }
}
