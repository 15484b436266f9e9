package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Cancellation;
import io.carillon.run.Lane;
import io.carillon.run.Origin;
import io.carillon.run.Redrive;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.store.Beat;
import io.carillon.store.BulkDeed;
import io.carillon.store.Verdict;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What people do to runs by hand: cancel, redrive, look. */
abstract class RunDeskContract extends StoreContract {
    @Test
    void cancels_a_waiting_run_at_once() {
        RunId id = enqueue(Order.mail().after(Duration.ofDays(2)));

        assertThat(cancel(id)).isEqualTo(new Cancellation.Cancelled());

        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
        assertThat(get(id).details().reason()).isEqualTo("enough");
        assertThat(cancel(id)).isEqualTo(new Cancellation.AlreadyEnded(RunState.CANCELLED));
    }

    private Cancellation cancel(RunId id) {
        return storage().runDesk().cancel(PROJECT, id, "enough");
    }

    @Test
    void asks_the_node_of_a_running_run_to_stop_it() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        claimOne(node);
        UUID other = node();

        assertThat(cancel(id)).isEqualTo(new Cancellation.Requested());

        assertThat(storage().nodes().beat(node, 1, List.of()).cancels())
                .containsExactly(new Beat.CancelOrder(PROJECT, id, "enough"));
        assertThat(storage().nodes().beat(other, 1, List.of()).cancels()).isEmpty();
        assertThat(get(id).state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void orders_of_other_projects_hide_no_order_however_many_they_are() throws Exception {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        claimOne(node);
        try (Connection connection = bench().open()) {
            connection
                    .createStatement()
                    .execute("INSERT INTO carillon.cancel_request (project, run_id, reason)"
                            + " SELECT 'aaa', gen_random_uuid(), 'enough' FROM generate_series(1, 10001)");
        }
        cancel(id);

        assertThat(storage().nodes().beat(node, 1, List.of()).cancels())
                .containsExactly(new Beat.CancelOrder(PROJECT, id, "enough"));
    }

    @Test
    void a_bulk_action_takes_what_was_there_when_it_began_and_counts_up_to_a_bound() {
        enqueue(Order.mail(), 12);
        RunFilter waiting = RunFilter.all().state(RunState.WAITING);
        Instant began = get(enqueue(Order.mail())).instants().createdAt();
        advance(SECOND);
        RunId later = enqueue(Order.mail());
        assertThat(storage().runDesk().count(PROJECT, waiting, 10)).isEqualTo(10);
        assertThat(storage().runDesk().count(PROJECT, waiting, 100)).isEqualTo(14);

        BulkDeed cancel = new BulkDeed.Cancel("enough");
        assertThat(storage().runDesk().bulk(PROJECT, waiting, cancel, began)).isEqualTo(13);

        assertThat(storage().runDesk().bulk(PROJECT, waiting, cancel, began)).isZero();
        assertThat(get(later).state()).isEqualTo(RunState.WAITING);
    }

    @Test
    void knows_nothing_of_runs_that_never_were_or_belong_to_others() {
        RunId foreign = enqueue(Order.mail().in(new Lane("mail", "other")));

        assertThat(cancel(RunId.next())).isEqualTo(new Cancellation.Unknown());
        assertThat(cancel(foreign)).isEqualTo(new Cancellation.Unknown());
        assertThat(storage().runDesk().get(PROJECT, foreign)).isEmpty();
        assertThat(storage().runDesk().redrive(PROJECT, List.of(foreign))).containsExactly(new Redrive.Gone(foreign));
        assertThat(storage().runDesk().list(PROJECT, RunFilter.all())).isEmpty();
    }

    @Test
    void a_cancel_asked_for_while_it_ran_is_kept_when_the_attempt_fails() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        cancel(id);

        apply(node, attempt, new Transition.Retry(Duration.ofMinutes(1), "oops", false));

        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
        assertThat(get(id).details().reason()).isEqualTo("enough");
        assertThat(storage().runDesk().attempts(PROJECT, id)).hasSize(1);
    }

    @Test
    void a_cancel_asked_for_while_it_ran_is_kept_when_it_is_handed_back() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        cancel(id);

        storage().runs().handBack(node, List.of(attempt));

        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void a_cancel_asked_for_while_it_ran_is_kept_when_its_node_dies() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        claimOne(node);
        cancel(id);

        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().sweep(3);

        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void a_cancel_asked_for_while_it_ran_is_kept_when_the_attempt_is_left_open() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        cancel(id);
        assertThat(sweepDue(node)).isFalse();

        apply(node, attempt, new Transition.Await(Duration.ofDays(1), "digest", null));
        assertThat(sweepDue(node)).isTrue();
        storage().nodes().sweep(3);

        assertThat(get(id).state()).isEqualTo(RunState.CANCELLED);
        assertThat(sweepDue(node)).isFalse();
    }

    private boolean sweepDue(UUID node) {
        return storage().nodes().beat(node, 0, List.of()).sweepDue();
    }

    @Test
    void cancel_against_completion_gives_one_end_and_an_answer_that_fits() {
        for (int round = 0; round < 30; round++) {
            RunId id = enqueue(Order.mail());
            UUID node = node();
            Attempt attempt = claimOne(node);

            List<Object> answers =
                    Together.run(2, thread -> thread == 0 ? apply(node, attempt, complete()) : cancel(id));

            assertThat(answers.get(0)).isEqualTo(Verdict.ACCEPTED);
            assertThat(answers.get(1))
                    .isIn(new Cancellation.Requested(), new Cancellation.AlreadyEnded(RunState.SUCCEEDED));
            assertThat(get(id).state()).isEqualTo(RunState.SUCCEEDED);
            endedOnce(id);
        }
    }

    @Test
    void cancel_against_retry_always_ends_as_cancelled() {
        for (int round = 0; round < 60; round++) {
            RunId id = enqueue(Order.mail());
            UUID node = node();
            Attempt attempt = claimOne(node);

            List<Object> answers = Together.run(2, thread -> {
                if (thread == 0)
                    return apply(node, attempt, new Transition.Retry(Duration.ofMinutes(1), "oops", false));
                return bench().another().runDesk().cancel(PROJECT, id, "enough");
            });

            assertThat(answers.get(1)).isIn(new Cancellation.Requested(), new Cancellation.Cancelled());
            assertThat(get(id).state()).as("%s", answers).isEqualTo(RunState.CANCELLED);
            endedOnce(id);
        }
    }

    @Test
    void cancel_against_claim_gives_one_of_both() {
        for (int round = 0; round < 30; round++) {
            RunId id = enqueue(Order.mail());
            UUID node = node();

            List<Object> answers = Together.run(2, thread -> thread == 0 ? claim(node, 1) : cancel(id));

            boolean claimed = !((List<?>) answers.get(0)).isEmpty();
            assertThat(answers.get(1)).isEqualTo(claimed ? new Cancellation.Requested() : new Cancellation.Cancelled());
            bench().clear();
        }
    }

    private void endedOnce(RunId id) {
        assertThat(storage().runDesk().list(PROJECT, RunFilter.all()).stream()
                        .filter(run -> run.id().equals(id)))
                .hasSize(1);
    }

    @Test
    void many_cancels_of_one_run_cancel_it_once() {
        RunId id = enqueue(Order.mail());

        List<Cancellation> answers = Together.run(20, thread -> cancel(id));

        assertThat(answers.stream().filter(Cancellation.Cancelled.class::isInstance))
                .hasSize(1);
        assertThat(answers.stream().filter(Cancellation.AlreadyEnded.class::isInstance))
                .hasSize(19);
        endedOnce(id);
    }

    @Test
    void redriving_makes_a_new_linked_run_with_the_same_work() {
        RunId dead = die(Order.mail().key("k"));

        Redrive.Redriven redriven = (Redrive.Redriven) redrive(dead).get(0);

        Run run = get(redriven.run());
        assertThat(run.origin()).isEqualTo(Origin.REDRIVE);
        assertThat(run.details().parent()).isEqualTo(dead);
        assertThat(run.details().key()).isEqualTo("k");
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(0, 0, 0);
        assertThat(claimOne(node()).payload()).isEqualTo(Order.payload(dead));
        assertThat(storage().runDesk().dead(PROJECT, RunFilter.all())).isEmpty();
        assertThat(get(dead).state()).isEqualTo(RunState.DEAD);
        assertThat(redrive(dead)).containsExactly(new Redrive.Gone(dead));
    }

    private List<Redrive> redrive(RunId... dead) {
        return storage().runDesk().redrive(PROJECT, List.of(dead));
    }

    private RunId die(Order order) {
        RunId id = enqueue(order);
        UUID node = node();
        assertThat(apply(node, claimOne(node), new Transition.Die("no"))).isEqualTo(Verdict.ACCEPTED);
        return id;
    }

    @Test
    void a_dead_run_whose_key_another_run_holds_stays_where_it_is() {
        RunId dead = die(Order.mail().key("k"));
        RunId other = die(Order.mail());
        enqueue(Order.mail().key("k"));
        RunId unknown = RunId.next();

        List<Redrive> answers = redrive(dead, other, unknown);

        assertThat(answers.get(0)).isEqualTo(new Redrive.KeyTaken(dead, "k"));
        assertThat(answers.get(1)).isInstanceOf(Redrive.Redriven.class);
        assertThat(answers.get(2)).isEqualTo(new Redrive.Gone(unknown));
        assertThat(storage().runDesk().dead(PROJECT, RunFilter.all())).containsExactly(dead);
    }

    @Test
    void of_twenty_redrives_of_one_run_one_makes_a_run() {
        for (int round = 0; round < 5; round++) {
            RunId dead = die(Order.mail());

            List<Redrive> answers = Together.run(20, thread -> redrive(dead).get(0));

            assertThat(answers.stream().filter(Redrive.Redriven.class::isInstance))
                    .hasSize(1);
            assertThat(answers.stream().filter(Redrive.Gone.class::isInstance)).hasSize(19);
            assertThat(claim(node(), 50)).hasSize(1);
        }
    }

    @Test
    void of_twenty_redrives_of_runs_with_one_key_one_makes_a_run_and_the_others_stay() {
        List<RunId> dead = new ArrayList<>();
        for (int i = 0; i < 20; i++) dead.add(die(Order.mail().key("k")));

        List<Redrive> answers =
                Together.run(20, thread -> redrive(dead.get(thread)).get(0));

        assertThat(answers.stream().filter(Redrive.Redriven.class::isInstance)).hasSize(1);
        assertThat(answers.stream().filter(Redrive.KeyTaken.class::isInstance))
                .hasSize(19)
                .allSatisfy(
                        answer -> assertThat(((Redrive.KeyTaken) answer).key()).isEqualTo("k"));
        assertThat(storage().runDesk().dead(PROJECT, RunFilter.all())).hasSize(19);
    }

    @Test
    void redrive_against_enqueue_of_the_same_key_lets_one_in() {
        for (int round = 0; round < 20; round++) {
            RunId dead = die(Order.mail().key("k"));

            Together.run(
                    2,
                    thread -> thread == 0 ? redrive(dead) : enqueue(Order.mail().key("k")));

            assertThat(claim(node(), 5)).hasSize(1);
            bench().clear();
        }
    }

    @Test
    void lists_the_newest_first_living_and_ended() {
        List<RunId> expected = new ArrayList<>();
        UUID node = node();
        for (int i = 0; i < 6; i++) {
            advance(SECOND);
            RunId id = enqueue(Order.mail());
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
        return storage().runDesk().list(PROJECT, filter).stream().map(Run::id).toList();
    }

    @Test
    void filters_by_queue_handler_and_state() {
        RunId orders = enqueue(Order.mail().in(new Lane("orders", "default")));
        RunId other = enqueue(Order.mail().to("other.work"));
        RunId dead = die(Order.mail().at(StoreBench.NOON.minusSeconds(9)));

        assertThat(list(RunFilter.all().queue("orders"))).containsExactly(orders);
        assertThat(list(RunFilter.all().handler("other.work"))).containsExactly(other);
        assertThat(list(RunFilter.all().state(RunState.DEAD))).containsExactly(dead);
        assertThat(list(RunFilter.all().state(RunState.WAITING))).containsExactlyInAnyOrder(orders, other);
        assertThat(storage().runDesk().dead(PROJECT, RunFilter.all().queue("orders")))
                .isEmpty();
        assertThat(storage().runDesk().dead(PROJECT, RunFilter.all().handler(Order.HANDLER)))
                .containsExactly(dead);
    }

    @Test
    void explains_why_a_run_is_where_it_is() {
        UUID node = node();
        RunId later = enqueue(Order.mail().after(SECOND));
        RunId stranger = enqueue(Order.mail().to("nobody.knows"));
        RunId running = enqueue(Order.mail());
        claim(node, 5);
        storage().runDesk().cancel(PROJECT, running, "enough");

        assertThat(explain(later)).contains("ready at");
        assertThat(explain(running)).contains("runs on node n");
        assertThat(storage().runDesk().explain(PROJECT, running).orElseThrow().holds())
                .anyMatch(hold -> hold.contains("cancel"));
        assertThat(explain(stranger)).contains("runs on node");
        assertThat(storage().runDesk().explain(PROJECT, RunId.next())).isEmpty();
    }

    private String explain(RunId id) {
        return storage().runDesk().explain(PROJECT, id).orElseThrow().summary();
    }
}
