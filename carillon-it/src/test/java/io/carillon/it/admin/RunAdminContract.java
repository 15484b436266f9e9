package io.carillon.it.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.node.HeartbeatResult;
import io.carillon.internal.store.run.BulkAction;
import io.carillon.internal.store.run.BulkChunk;
import io.carillon.internal.store.run.BulkCursor;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.CancelResult;
import io.carillon.run.Origin;
import io.carillon.run.RedriveResult;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Operations of users on runs: cancel, redrive, list, explain and bulk actions. */
abstract class RunAdminContract extends StoreContract {
    @Test
    void cancels_a_waiting_run_immediately() {
        RunId id = enqueue(RunSpec.mail().after(Duration.ofDays(2)));

        assertThat(cancel(id)).isEqualTo(new CancelResult.Cancelled());

        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
        assertThat(get(id).details().reason()).isEqualTo("enough");
        assertThat(cancel(id)).isEqualTo(new CancelResult.AlreadyEnded(RunState.CANCELLED));
    }

    private CancelResult cancel(RunId id) {
        return storage().runAdmin().cancel(PROJECT, id, "enough");
    }

    @Test
    void a_cancel_of_a_running_run_sends_a_request_to_its_node() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        claimOne(node);
        UUID other = node();

        assertThat(cancel(id)).isEqualTo(new CancelResult.Requested());

        assertThat(storage().nodes().recordHeartbeat(node, 1, List.of()).cancelRequests())
                .containsExactly(new HeartbeatResult.CancelRequest(PROJECT, id, "enough"));
        assertThat(storage().nodes().recordHeartbeat(other, 1, List.of()).cancelRequests())
                .isEmpty();
        assertThat(get(id).state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void many_cancel_requests_of_other_projects_do_not_hide_a_request() throws Exception {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        claimOne(node);
        try (Connection connection = fixture().open()) {
            connection
                    .createStatement()
                    .execute("INSERT INTO carillon.cancel_request (project, run_id, reason)"
                            + " SELECT 'aaa', gen_random_uuid(), 'enough' FROM generate_series(1, 10001)");
        }
        cancel(id);

        assertThat(storage().nodes().recordHeartbeat(node, 1, List.of()).cancelRequests())
                .containsExactly(new HeartbeatResult.CancelRequest(PROJECT, id, "enough"));
    }

    @Test
    void a_bulk_action_changes_runs_that_existed_when_it_began_and_counts_up_to_a_bound() {
        enqueue(RunSpec.mail(), 13);
        RunFilter waiting = RunFilter.all().state(RunState.WAITING);
        BulkCursor cursor = storage().runAdmin().beginBulk(PROJECT, false);
        advance(SECOND);
        RunId later = enqueue(RunSpec.mail());
        assertThat(storage().runAdmin().count(PROJECT, waiting, 10)).isEqualTo(new RunAdmin.Count(10, false));
        assertThat(storage().runAdmin().count(PROJECT, waiting, 100)).isEqualTo(new RunAdmin.Count(14, true));

        BulkChunk chunk = storage().runAdmin().bulk(PROJECT, waiting, new BulkAction.Cancel("enough"), cursor);

        assertThat(chunk.done()).isEqualTo(13);
        assertThat(chunk.next().isFinished()).isTrue();
        assertThat(get(later).state()).isEqualTo(RunState.WAITING);
    }

    @Test
    void two_bulk_actions_that_undo_each_other_visit_each_run_once() {
        enqueue(RunSpec.mail(), 2_500);
        RunFilter waiting = RunFilter.all().state(RunState.WAITING);
        BulkAction[] actions = {
            new BulkAction.Reschedule(StoreFixture.NOON.plus(Duration.ofDays(1))),
            new BulkAction.Reschedule(StoreFixture.NOON.plus(Duration.ofDays(2)))
        };
        BulkCursor[] cursors = {
            storage().runAdmin().beginBulk(PROJECT, false), storage().runAdmin().beginBulk(PROJECT, false)
        };
        int[] done = new int[2];

        for (int chunk = 0; chunk < 3; chunk++)
            for (int i = 0; i < 2; i++) {
                BulkChunk result = storage().runAdmin().bulk(PROJECT, waiting, actions[i], cursors[i]);
                cursors[i] = result.next();
                done[i] += result.done();
            }

        assertThat(cursors).allMatch(BulkCursor::isFinished);
        assertThat(done).containsExactly(2_500, 2_500);
    }

    @Test
    void a_bulk_action_on_few_runs_of_many_reads_them_in_bounded_chunks() {
        RunId first = enqueue(RunSpec.mail().withHandler("report.make"));
        enqueue(RunSpec.mail(), 6_000);
        RunId last = enqueue(RunSpec.mail().withHandler("report.make"));
        RunFilter reports = RunFilter.all().handler("report.make").state(RunState.WAITING);
        BulkAction cancel = new BulkAction.Cancel("enough");

        BulkChunk begun = storage()
                .runAdmin()
                .bulk(PROJECT, reports, cancel, storage().runAdmin().beginBulk(PROJECT, false));
        assertThat(begun.done()).as("of the first 5000 runs").isEqualTo(1);
        assertThat(get(first).state()).isEqualTo(RunState.CANCELLED);
        BulkChunk ended = storage().runAdmin().bulk(PROJECT, reports, cancel, begun.next());

        assertThat(ended.done()).isEqualTo(1);
        assertThat(ended.next().isFinished()).isTrue();
        assertThat(get(last).state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void does_not_find_missing_runs_or_runs_of_other_projects() {
        RunId foreign = enqueue(RunSpec.mail().inLane(new Lane("mail", "other")));

        assertThat(cancel(RunId.generate())).isEqualTo(new CancelResult.Unknown());
        assertThat(cancel(foreign)).isEqualTo(new CancelResult.Unknown());
        assertThat(storage().runAdmin().get(PROJECT, foreign)).isEmpty();
        assertThat(storage().runAdmin().redrive(PROJECT, List.of(foreign)))
                .containsExactly(new RedriveResult.NotDead(foreign));
        assertThat(storage().runAdmin().list(PROJECT, RunFilter.all())).isEmpty();
    }

    @Test
    void a_cancel_request_takes_effect_when_the_attempt_fails() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        cancel(id);

        apply(node, attempt, new Transition.Retry(Duration.ofMinutes(1), "oops", false));

        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
        assertThat(get(id).details().reason()).isEqualTo("enough");
        assertThat(storage().runAdmin().attempts(PROJECT, id)).hasSize(1);
    }

    @Test
    void a_cancel_request_takes_effect_when_the_run_is_handed_back() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        cancel(id);

        storage().runs().handBack(node, List.of(attempt));

        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void a_cancel_request_takes_effect_when_the_node_dies() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        claimOne(node);
        cancel(id);

        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().rescue(3);

        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void a_cancel_request_takes_effect_when_the_attempt_stays_open() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        cancel(id);
        assertThat(rescueDue(node)).isFalse();

        apply(node, attempt, new Transition.AwaitCallback(Duration.ofDays(1), "digest", null));
        assertThat(rescueDue(node)).isTrue();
        storage().nodes().rescue(3);

        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
        assertThat(rescueDue(node)).isFalse();
    }

    private boolean rescueDue(UUID node) {
        return storage().nodes().recordHeartbeat(node, 0, List.of()).rescueDue();
    }

    @Test
    void a_cancel_racing_a_completion_gives_one_ending_and_a_matching_answer() {
        for (int round = 0; round < 30; round++) {
            RunId id = enqueue(RunSpec.mail());
            UUID node = node();
            Attempt attempt = claimOne(node);

            List<Object> answers =
                    Concurrently.run(2, thread -> thread == 0 ? apply(node, attempt, complete()) : cancel(id));

            assertThat(answers.get(0)).isEqualTo(WriteResult.ACCEPTED);
            assertThat(answers.get(1))
                    .isIn(new CancelResult.Requested(), new CancelResult.AlreadyEnded(RunState.SUCCEEDED));
            assertThat(get(id).state()).isEqualTo(RunState.SUCCEEDED);
            endedOnce(id);
        }
    }

    @Test
    void a_cancel_racing_a_retry_always_ends_as_cancelled() {
        for (int round = 0; round < 60; round++) {
            RunId id = enqueue(RunSpec.mail());
            UUID node = node();
            Attempt attempt = claimOne(node);

            List<Object> answers = Concurrently.run(2, thread -> {
                if (thread == 0)
                    return apply(node, attempt, new Transition.Retry(Duration.ofMinutes(1), "oops", false));
                return fixture().secondStorage().runAdmin().cancel(PROJECT, id, "enough");
            });

            assertThat(answers.get(1)).isIn(new CancelResult.Requested(), new CancelResult.Cancelled());
            assertThat(get(id).state()).as("%s", answers).isEqualTo(RunState.CANCELLED);
            endedOnce(id);
        }
    }

    @Test
    void a_cancel_racing_a_claim_has_one_winner() {
        for (int round = 0; round < 30; round++) {
            RunId id = enqueue(RunSpec.mail());
            UUID node = node();

            List<Object> answers = Concurrently.run(2, thread -> thread == 0 ? claim(node, 1) : cancel(id));

            boolean claimed = !((List<?>) answers.get(0)).isEmpty();
            assertThat(answers.get(1)).isEqualTo(claimed ? new CancelResult.Requested() : new CancelResult.Cancelled());
            fixture().clear();
        }
    }

    private void endedOnce(RunId id) {
        assertThat(storage().runAdmin().list(PROJECT, RunFilter.all()).stream()
                        .filter(run -> run.id().equals(id)))
                .hasSize(1);
    }

    @Test
    void many_cancels_of_one_run_cancel_it_once() {
        RunId id = enqueue(RunSpec.mail());

        List<CancelResult> answers = Concurrently.run(20, thread -> cancel(id));

        assertThat(answers.stream().filter(CancelResult.Cancelled.class::isInstance))
                .hasSize(1);
        assertThat(answers.stream().filter(CancelResult.AlreadyEnded.class::isInstance))
                .hasSize(19);
        endedOnce(id);
    }

    @Test
    void a_redrive_creates_a_new_linked_run_with_the_same_payload() {
        RunId dead = enqueueDead(RunSpec.mail().key("k"));

        RedriveResult.Redriven redriven = (RedriveResult.Redriven) redrive(dead).get(0);

        Run run = get(redriven.run());
        assertThat(run.origin()).isEqualTo(Origin.REDRIVE);
        assertThat(run.details().parent()).isEqualTo(dead);
        assertThat(run.details().uniqueKey()).isEqualTo("k");
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(0, 0, 0);
        assertThat(claimOne(node()).payload()).isEqualTo(RunSpec.payload(dead));
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all())).isEmpty();
        assertThat(get(dead).state()).isEqualTo(RunState.DEAD);
        assertThat(redrive(dead)).containsExactly(new RedriveResult.NotDead(dead));
    }

    private List<RedriveResult> redrive(RunId... dead) {
        return storage().runAdmin().redrive(PROJECT, List.of(dead));
    }

    private RunId enqueueDead(RunSpec spec) {
        RunId id = enqueue(spec);
        UUID node = node();
        assertThat(apply(node, claimOne(node), new Transition.MarkDead("no"))).isEqualTo(WriteResult.ACCEPTED);
        return id;
    }

    @Test
    void a_dead_run_whose_key_another_run_has_is_not_redriven() {
        RunId dead = enqueueDead(RunSpec.mail().key("k"));
        RunId other = enqueueDead(RunSpec.mail());
        enqueue(RunSpec.mail().key("k"));
        RunId unknown = RunId.generate();

        List<RedriveResult> answers = redrive(dead, other, unknown);

        assertThat(answers.get(0)).isEqualTo(new RedriveResult.KeyTaken(dead, "k"));
        assertThat(answers.get(1)).isInstanceOf(RedriveResult.Redriven.class);
        assertThat(answers.get(2)).isEqualTo(new RedriveResult.NotDead(unknown));
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all())).containsExactly(dead);
    }

    @Test
    void one_of_twenty_redrives_of_one_run_creates_a_run() {
        for (int round = 0; round < 5; round++) {
            RunId dead = enqueueDead(RunSpec.mail());

            List<RedriveResult> answers =
                    Concurrently.run(20, thread -> redrive(dead).get(0));

            assertThat(answers.stream().filter(RedriveResult.Redriven.class::isInstance))
                    .hasSize(1);
            assertThat(answers.stream().filter(RedriveResult.NotDead.class::isInstance))
                    .hasSize(19);
            assertThat(claim(node(), 50)).hasSize(1);
        }
    }

    @Test
    void one_of_twenty_redrives_of_runs_with_one_key_creates_a_run_and_the_others_stay_dead() {
        List<RunId> dead = new ArrayList<>();
        for (int i = 0; i < 20; i++) dead.add(enqueueDead(RunSpec.mail().key("k")));

        List<RedriveResult> answers =
                Concurrently.run(20, thread -> redrive(dead.get(thread)).get(0));

        assertThat(answers.stream().filter(RedriveResult.Redriven.class::isInstance))
                .hasSize(1);
        assertThat(answers.stream().filter(RedriveResult.KeyTaken.class::isInstance))
                .hasSize(19)
                .allSatisfy(answer -> assertThat(((RedriveResult.KeyTaken) answer).uniqueKey())
                        .isEqualTo("k"));
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all())).hasSize(19);
    }

    @Test
    void a_redrive_racing_an_enqueue_of_the_same_key_creates_one_run() {
        for (int round = 0; round < 20; round++) {
            RunId dead = enqueueDead(RunSpec.mail().key("k"));

            Concurrently.run(
                    2,
                    thread ->
                            thread == 0 ? redrive(dead) : enqueue(RunSpec.mail().key("k")));

            assertThat(claim(node(), 5)).hasSize(1);
            fixture().clear();
        }
    }

    @Test
    void lists_live_and_ended_runs_newest_first() {
        List<RunId> expected = new ArrayList<>();
        UUID node = node();
        for (int i = 0; i < 6; i++) {
            advance(SECOND);
            RunId id = enqueue(RunSpec.mail());
            expected.add(0, id);
            Attempt attempt = claimOne(node);
            if (i % 2 == 0) apply(node, attempt, complete());
        }

        assertThat(list(RunFilter.all().state(RunState.RUNNING)))
                .containsExactly(expected.get(0), expected.get(2), expected.get(4));
        assertThat(list(RunFilter.all().state(RunState.SUCCEEDED)))
                .containsExactly(expected.get(1), expected.get(3), expected.get(5));
        assertThat(list(RunFilter.all().limit(2).state(RunState.SUCCEEDED)))
                .containsExactly(expected.get(1), expected.get(3));
        assertThat(list(RunFilter.all().limit(2).state(RunState.RUNNING)))
                .containsExactly(expected.get(0), expected.get(2));
    }

    private List<RunId> list(RunFilter filter) {
        return storage().runAdmin().list(PROJECT, filter).stream().map(Run::id).toList();
    }

    @Test
    void filters_by_queue_handler_and_state() {
        RunId orders = enqueue(RunSpec.mail().inLane(new Lane("orders", "default")));
        RunId other = enqueue(RunSpec.mail().withHandler("other.work"));
        RunId dead = enqueueDead(RunSpec.mail().at(StoreFixture.NOON.minusSeconds(9)));

        assertThat(list(RunFilter.all().queue("orders"))).containsExactly(orders);
        assertThat(list(RunFilter.all().handler("other.work"))).containsExactly(other);
        assertThat(list(RunFilter.all().state(RunState.DEAD))).containsExactly(dead);
        assertThat(list(RunFilter.all().state(RunState.WAITING))).containsExactlyInAnyOrder(orders, other);
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all().queue("orders")))
                .isEmpty();
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all().handler(RunSpec.HANDLER)))
                .containsExactly(dead);
    }

    @Test
    void explains_the_state_of_a_run() {
        UUID node = node();
        RunId later = enqueue(RunSpec.mail().after(SECOND));
        RunId withoutHandler = enqueue(RunSpec.mail().withHandler("unknown.work"));
        RunId running = enqueue(RunSpec.mail());
        claim(node, 5);
        storage().runAdmin().cancel(PROJECT, running, "enough");

        assertThat(explain(later)).contains("ready at");
        assertThat(explain(running)).contains("runs on node nod_");
        assertThat(storage().runAdmin().explain(PROJECT, running).orElseThrow().blockers())
                .anyMatch(hold -> hold.contains("cancel"));
        assertThat(explain(withoutHandler)).contains("runs on node");
        assertThat(storage().runAdmin().explain(PROJECT, RunId.generate())).isEmpty();
    }

    @Test
    void explains_a_run_that_a_process_without_a_node_executes() {
        RunId id = enqueue(RunSpec.mail());
        lease(UUID.randomUUID(), 1, SECOND);

        assertThat(explain(id)).isEqualTo("A call of runDue executes it, attempt 1.");
    }

    private String explain(RunId id) {
        return storage().runAdmin().explain(PROJECT, id).orElseThrow().summary();
    }
}
