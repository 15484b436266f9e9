package io.carillon.it.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.node.NodeRegistration;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.RunWaitStore.Resolution;
import io.carillon.internal.store.run.RunWaitStore.RunKey;
import io.carillon.internal.store.run.WorkflowSignalStore;
import io.carillon.internal.store.run.WorkflowSignalStore.NewSignal;
import io.carillon.internal.store.run.WorkflowSignalStore.Sent;
import io.carillon.internal.store.run.WorkflowStepStore.Holder;
import io.carillon.internal.store.run.WorkflowStepStore.NewAnswer;
import io.carillon.internal.store.run.WorkflowStepStore.NewStep;
import io.carillon.internal.store.run.WorkflowStepStore.StepKind;
import io.carillon.internal.store.run.WorkflowStepStore.StepRecord;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunId;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Signals to workflows: taken once, in order, and no order of two commits loses a wake-up. */
class PostgresWorkflowSignalTest extends StoreContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final Duration WEEK = Duration.ofDays(7);

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void a_signal_wakes_a_workflow_that_waits_for_it_and_no_other() {
        UUID node = node();
        Attempt waits = awaiting(node, RunSpec.mail());
        Attempt waitsForOther = claimed(node, RunSpec.mail());
        record(node, waitsForOther, new NewStep(StepKind.AWAIT, 0, "other", null, null, WEEK));
        Attempt sleeps = claimed(node, RunSpec.mail());
        record(node, sleeps, new NewStep(0, "approval", null, null, WEEK));
        for (Attempt one : List.of(waits, waitsForOther, sleeps)) {
            park(node, one);
            send(one.run(), "1");
        }

        Resolution woken = wake(waits.run(), waitsForOther.run(), sleeps.run());

        assertThat(woken.lanes()).containsExactly(RunSpec.MAIL);
        assertThat(claim(node, 9)).extracting(Attempt::run).containsExactly(waits.run());
        assertThat(wake(waits.run()).lanes()).isEmpty();
    }

    @Test
    void a_workflow_with_a_key_arrives_at_its_gate_when_it_is_woken() {
        UUID node = node();
        enqueue(RunSpec.mail().concurrencyKey("shop", 1));
        passGates();
        Attempt waits = claimOne(node);
        record(node, waits, await(0));
        park(node, waits);
        send(waits.run(), "1");

        assertThat(wake(waits.run()).gates()).containsExactly(new GateName(PROJECT, "concurrency:shop"));
        passGates();
        assertThat(claimOne(node).run()).isEqualTo(waits.run());
    }

    @Test
    void signals_are_taken_once_and_in_the_order_in_which_they_were_sent() {
        UUID node = node();
        Attempt held = claimed(node, RunSpec.mail());
        assertThat(send(held.run(), "first")).isEqualTo(Sent.STORED);
        advance(SECOND);
        send(held.run(), "second");
        assertThat(send(held.run(), "first")).isEqualTo(Sent.DUPLICATE);

        record(node, held, await(0));
        assertThat(text(answer(node, held, 1))).isEqualTo("first");
        assertThat(text(answer(node, held, 1))).isEqualTo("first");
        assertThat(send(held.run(), "first")).isEqualTo(Sent.DUPLICATE);
        record(node, held, new NewStep(StepKind.AWAIT, 2, "approval#2", null, null, WEEK));
        assertThat(text(answer(node, held, 3))).isEqualTo("second");
        record(node, held, new NewStep(StepKind.AWAIT, 4, "approval#3", null, null, WEEK));
        assertThat(answer(node, held, 5)).isEmpty();
    }

    @Test
    void a_recorded_time_out_stays_and_a_late_signal_waits_for_the_next_await() {
        UUID node = node();
        Attempt held = awaiting(node, RunSpec.mail());
        assertThat(answer(node, held, 1)).isEmpty();
        advance(WEEK);
        assertThat(answer(node, held, 1)).map(StepRecord::kind).contains(StepKind.TIMEOUT);

        send(held.run(), "late");
        assertThat(answer(node, held, 1)).map(StepRecord::kind).contains(StepKind.TIMEOUT);
        record(node, held, new NewStep(StepKind.AWAIT, 2, "approval#2", null, null, WEEK));
        assertThat(text(answer(node, held, 3))).isEqualTo("late");
    }

    @Test
    void an_attempt_that_lost_its_run_takes_no_signal() {
        UUID node = node();
        Attempt lost = awaiting(node, RunSpec.mail());
        send(lost.run(), "1");
        declareDead(node);
        rescue();
        UUID next = node();
        Attempt held = claimOne(next);

        assertThat(answer(node, lost, 1)).isEmpty();
        assertThat(text(answer(next, held, 1))).isEqualTo("1");
    }

    @Test
    void a_signal_to_an_ended_or_unknown_run_is_not_stored() {
        UUID node = node();
        Attempt ended = claimed(node, RunSpec.mail());
        apply(node, ended, complete());

        assertThat(send(ended.run(), "1")).isEqualTo(Sent.NO_LIVE_RUN);
        assertThat(send(RunId.generate(), "1")).isEqualTo(Sent.NO_LIVE_RUN);
    }

    @Test
    void the_signals_that_a_workflow_has_not_taken_are_bounded() {
        UUID node = node();
        Attempt held = awaiting(node, RunSpec.mail());
        send(held.run(), "first");
        FIXTURE.database().execute("""
                INSERT INTO carillon.workflow_signal (project, run_id, send_id, id, name, codec, value)
                SELECT project, run_id, 'more ' || n, gen_random_uuid(), name, codec, value
                  FROM carillon.workflow_signal, generate_series(1, 999) n
                """);

        assertThat(send(held.run(), "new")).isEqualTo(Sent.TOO_MANY);
        assertThat(send(held.run(), "first")).isEqualTo(Sent.DUPLICATE);
        assertThat(text(answer(node, held, 1))).isEqualTo("first");
        assertThat(send(held.run(), "new")).isEqualTo(Sent.STORED);

        FIXTURE.database().execute("DELETE FROM carillon.workflow_signal WHERE send_id <> 'more 1'");
        FIXTURE.database()
                .execute("UPDATE carillon.workflow_signal SET value = convert_to(repeat('x', 16777214), 'UTF8')");
        assertThat(send(held.run(), "new")).isEqualTo(Sent.TOO_MANY);
        assertThat(send(held.run(), "ab")).isEqualTo(Sent.STORED);
    }

    @Test
    void a_signal_to_a_run_of_a_handler_that_is_no_workflow_is_refused_if_nodes_say_so() {
        RunId run = enqueue(RunSpec.mail());
        assertThat(send(run, "no node")).isEqualTo(Sent.STORED);
        UUID plain = UUID.randomUUID();
        storage()
                .nodes()
                .register(new NodeRegistration(
                        plain, "n", "host", 1, "1", Set.of(RunSpec.HANDLER), Set.of(), 50, "notify"));
        assertThat(send(run, "plain")).isEqualTo(Sent.NO_WORKFLOW);
        node();
        assertThat(send(run, "workflow")).isEqualTo(Sent.STORED);
    }

    @Test
    void a_scan_finds_what_a_crash_after_the_commit_left() {
        UUID node = node();
        Set<RunId> parked = new LinkedHashSet<>();
        for (int i = 0; i < 25; i++) {
            Attempt waits = awaiting(node, RunSpec.mail());
            park(node, waits);
            if (i % 3 == 0) continue;
            send(waits.run(), "1");
            send(waits.run(), "2");
            parked.add(waits.run());
        }

        RunKey after = null;
        do {
            WorkflowSignalStore.Scan part = storage().workflowSignals().scan(after, 7);
            storage().workflowSignals().wake(part.runs());
            after = part.last();
        } while (after != null);

        assertThat(claim(node, 99)).extracting(Attempt::run).containsExactlyInAnyOrderElementsOf(parked);
    }

    @Test
    void a_signal_that_is_sent_while_its_workflow_is_parked_loses_no_wake_up() {
        UUID node = node();
        for (int i = 0; i < 150; i++) {
            Attempt waits = awaiting(node, RunSpec.mail());

            Concurrently.run(2, thread -> {
                if (thread == 0) park(node, waits);
                else send(waits.run(), "1");
                wake(waits.run());
                return thread;
            });

            Attempt again = claimOne(node);
            assertThat(again.run()).isEqualTo(waits.run());
            assertThat(answer(node, again, 1)).isPresent();
            apply(node, again, complete());
        }
    }

    @Test
    void a_signal_that_is_sent_while_its_await_is_recorded_loses_no_wake_up() {
        UUID node = node();
        for (int i = 0; i < 150; i++) {
            Attempt waits = claimed(node, RunSpec.mail());

            List<Boolean> answered = Concurrently.run(2, thread -> {
                if (thread == 1) {
                    send(waits.run(), "1");
                    wake(waits.run());
                    return false;
                }
                record(node, waits, await(0));
                if (answer(node, waits, 1).isPresent()) return true;
                park(node, waits);
                wake(waits.run());
                return false;
            });

            if (answered.contains(true)) {
                apply(node, waits, complete());
                continue;
            }
            Attempt again = claimOne(node);
            assertThat(answer(node, again, 1)).isPresent();
            apply(node, again, complete());
        }
    }

    @Test
    void a_run_that_ends_while_its_await_is_recorded_loses_no_wake_up() {
        UUID node = node();
        for (int i = 0; i < 150; i++) {
            Attempt child = claimed(node, RunSpec.mail());
            Attempt waits = claimed(node, RunSpec.mail());

            List<Boolean> answered = Concurrently.run(2, thread -> {
                if (thread == 1) {
                    apply(node, child, complete());
                    look(storage().runWaits().resolveAwaited(List.of(new RunKey(PROJECT, child.run()))));
                    return false;
                }
                awaitRun(node, waits, child.run());
                if (answerRun(node, waits, child.run()).isPresent()) return true;
                park(node, waits);
                look(storage().runWaits().resolve(List.of(new RunKey(PROJECT, waits.run()))));
                return false;
            });

            if (answered.contains(true)) {
                apply(node, waits, complete());
                continue;
            }
            Attempt again = claimOne(node);
            assertThat(again.run()).isEqualTo(waits.run());
            assertThat(answerRun(node, again, child.run())).isPresent();
            apply(node, again, complete());
        }
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.run_wait").number())
                .isZero();
    }

    @Test
    void a_scan_wakes_workflows_whose_awaited_run_has_ended_and_forgets_ended_workflows() {
        UUID node = node();
        Attempt child = claimed(node, RunSpec.mail());
        Attempt waits = claimed(node, RunSpec.mail());
        Attempt ends = claimed(node, RunSpec.mail());
        Attempt other = claimed(node, RunSpec.mail());
        awaitRun(node, waits, child.run());
        awaitRun(node, ends, child.run());
        park(node, waits);
        apply(node, ends, complete());
        scanWaits();
        assertThat(claim(node, 9)).isEmpty();
        assertThat(FIXTURE.query("SELECT run_id FROM carillon.run_wait").texts())
                .containsExactly(waits.run().value().toString());

        apply(node, child, complete());
        scanWaits();

        assertThat(claimOne(node).run()).isEqualTo(waits.run());
        apply(node, other, complete());
    }

    private void scanWaits() {
        storage().runWaits().resolve(storage().runWaits().scan(null, 100).waiting());
    }

    private void awaitRun(UUID node, Attempt attempt, RunId awaited) {
        NewStep step = new NewStep(StepKind.AWAIT_RUN, 0, awaited.toString(), null, null, null);
        assertThat(storage().workflowSteps().recordRunWait(holder(node, attempt), step, awaited))
                .isPresent();
    }

    private Optional<StepRecord> answerRun(UUID node, Attempt attempt, RunId awaited) {
        return storage().workflowSteps().answerRun(holder(node, attempt), 1, awaited.toString(), awaited);
    }

    private void look(Resolution first) {
        Resolution last = first;
        while (!last.busy().isEmpty()) last = storage().runWaits().resolve(last.busy());
    }

    private Attempt claimed(UUID node, RunSpec spec) {
        enqueue(spec);
        return claimOne(node);
    }

    private Attempt awaiting(UUID node, RunSpec spec) {
        Attempt attempt = claimed(node, spec);
        record(node, attempt, await(0));
        return attempt;
    }

    private static NewStep await(int position) {
        return new NewStep(StepKind.AWAIT, position, "approval", null, null, WEEK);
    }

    private static Holder holder(UUID node, Attempt attempt) {
        return new Holder(PROJECT, attempt.run(), node, attempt.number());
    }

    private void record(UUID node, Attempt attempt, NewStep step) {
        assertThat(storage().workflowSteps().record(holder(node, attempt), step))
                .isPresent();
    }

    private Optional<StepRecord> answer(UUID node, Attempt attempt, int position) {
        String path = position == 1 ? "approval" : "approval#" + (position + 1) / 2;
        return storage().workflowSteps().answer(holder(node, attempt), new NewAnswer(position, path, "approval"));
    }

    private static String text(Optional<StepRecord> answer) {
        return new String(answer.orElseThrow().value().bytes(), java.nio.charset.StandardCharsets.UTF_8);
    }

    private void park(UUID node, Attempt attempt) {
        apply(node, attempt, new Transition.Snooze(WEEK));
    }

    /** Sends a signal whose value is its id. */
    private Sent send(RunId run, String id) {
        return storage()
                .workflowSignals()
                .send(new NewSignal(PROJECT, run, UUID.randomUUID(), id, "approval", bytes(id)), false);
    }

    /** Looks at these runs, and again at those that another session had locked, as nodes do. */
    private Resolution wake(RunId... runs) {
        Resolution first = storage()
                .workflowSignals()
                .wake(List.of(runs).stream()
                        .map(run -> new RunKey(PROJECT, run))
                        .toList());
        Resolution last = first;
        while (!last.busy().isEmpty()) last = storage().workflowSignals().wake(last.busy());
        return first;
    }
}
