package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.run.Attempt;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Lane;
import io.carillon.run.NewRun;
import io.carillon.run.Priority;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.store.Signal;
import io.carillon.store.WakeChannel;
import io.carillon.value.CarillonException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** How runs enter: all of them or none, keys once, and in the caller's transaction only with its commit. */
abstract class RunInboxContract extends StoreContract {
    @Test
    void answers_each_run_in_order() {
        List<NewRun> runs = Order.mail().times(5);

        List<EnqueueResult> results = storage().inbox().enqueue(runs);

        assertThat(results)
                .containsExactlyElementsOf(runs.stream()
                        .map(run -> (EnqueueResult) new EnqueueResult.Enqueued(run.id()))
                        .toList());
        assertThat(claim(node(), 9)).extracting(Attempt::run).hasSameElementsAs(ids(runs));
    }

    private static List<RunId> ids(List<NewRun> runs) {
        return runs.stream().map(NewRun::id).toList();
    }

    @Test
    void a_delay_is_counted_from_the_clock_of_the_store() {
        advance(Duration.ofMinutes(1));

        RunId id = enqueue(Order.mail().after(Duration.ofHours(1)));

        assertThat(get(id).instants().dueAt()).isEqualTo(StoreBench.NOON.plus(Duration.ofMinutes(61)));
    }

    @Test
    void a_hundred_enqueues_of_one_key_at_the_same_time_store_one_run() {
        List<EnqueueResult> results = Together.run(100, thread -> {
            List<NewRun> one = List.of(Order.mail().key("order:17").run());
            return (thread % 2 == 0 ? storage() : bench().another())
                    .inbox()
                    .enqueue(one)
                    .get(0);
        });

        assertThat(results.stream().filter(EnqueueResult.Enqueued.class::isInstance))
                .hasSize(1);
        assertThat(results.stream().map(EnqueueResult::run).distinct()).hasSize(1);
        assertThat(storage().runDesk().list(PROJECT, RunFilter.all())).hasSize(1);
    }

    @Test
    void a_key_counts_for_its_own_handler_and_project_only_and_in_every_queue() {
        Order order = Order.mail().key("k");
        RunId first = enqueue(order);

        for (Order other : List.of(order.to("mail.bounce"), order.in(new Lane("mail", "other"))))
            assertThat(storage().inbox().enqueue(List.of(other.run())).get(0))
                    .isInstanceOf(EnqueueResult.Enqueued.class);
        assertThat(storage()
                        .inbox()
                        .enqueue(List.of(order.in(new Lane("orders", "default")).run())))
                .containsExactly(new EnqueueResult.AlreadyThere(first));
    }

    @Test
    void a_key_is_held_while_its_run_waits_or_runs_or_retries_and_free_when_it_ended() {
        UUID node = node();
        enqueue(Order.mail().key("k"));
        held("waiting");
        Attempt attempt = claimOne(node);
        held("running");
        apply(node, attempt, new Transition.Retry(Duration.ZERO, "oops", false));
        held("retrying");
        apply(node, claimOne(node), new Transition.Snooze(Duration.ZERO));
        held("snoozing");

        apply(node, claimOne(node), complete());
        fresh("succeeded");
        apply(node, claimOne(node), new Transition.Die("no"));
        fresh("dead");
        apply(node, claimOne(node), new Transition.Cancel("no"));
        RunId waiting = fresh("cancelled while running");
        storage().runDesk().cancel(PROJECT, waiting, "no");
        fresh("cancelled while waiting");
    }

    @Test
    void a_key_is_held_over_a_crash_and_free_after_quarantine() {
        enqueue(Order.mail().key("k"));
        UUID first = node();
        claimOne(first);
        diesTwice(first);
        held("crashed");
        UUID second = node();
        assertThat(storage().runs().claimSuspect(second, Set.of(Order.HANDLER))).isPresent();
        crash(second);
        fresh("quarantined");
    }

    private void crash(UUID node) {
        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().sweep(1);
    }

    private void held(String why) {
        assertThat(storage()
                        .inbox()
                        .enqueue(List.of(Order.mail().key("k").run()))
                        .get(0))
                .as(why)
                .isInstanceOf(EnqueueResult.AlreadyThere.class);
    }

    private RunId fresh(String why) {
        EnqueueResult result =
                storage().inbox().enqueue(List.of(Order.mail().key("k").run())).get(0);
        assertThat(result).as(why).isInstanceOf(EnqueueResult.Enqueued.class);
        return result.run();
    }

    @Test
    void of_equal_keys_in_one_call_the_first_is_stored_and_the_others_point_to_it() {
        RunId there = enqueue(Order.mail().key("a"));
        List<NewRun> runs = List.of(
                Order.mail().key("b").run(),
                Order.mail().key("a").run(),
                Order.mail().run(),
                Order.mail().key("b").run());

        List<EnqueueResult> results = storage().inbox().enqueue(runs);

        assertThat(results)
                .containsExactly(
                        new EnqueueResult.Enqueued(runs.get(0).id()),
                        new EnqueueResult.AlreadyThere(there),
                        new EnqueueResult.Enqueued(runs.get(2).id()),
                        new EnqueueResult.AlreadyThere(runs.get(0).id()));
    }

    @Test
    void many_runs_with_duplicates_over_all_of_them_are_stored_once_each() {
        List<NewRun> runs = new ArrayList<>();
        for (int i = 0; i < 5_000; i++)
            runs.add(Order.mail().key("k" + i % 3_000).run());

        List<EnqueueResult> results = storage().inbox().enqueue(runs);

        for (int i = 0; i < runs.size(); i++)
            assertThat(results.get(i))
                    .isEqualTo(
                            i < 3_000
                                    ? new EnqueueResult.Enqueued(runs.get(i).id())
                                    : new EnqueueResult.AlreadyThere(
                                            runs.get(i - 3_000).id()));
    }

    /** In the callers' transactions, which nobody repeats for them. */
    private void both(List<NewRun> one, List<NewRun> other) {
        Together.run(2, thread -> {
            try (Connection caller = bench().open()) {
                caller.setAutoCommit(false);
                storage().inbox().enqueueIn(caller, thread == 0 ? one : other);
                caller.commit();
                return thread;
            }
        });
    }

    @Test
    void two_bulks_of_the_same_strict_lines_in_another_order_do_not_wait_in_a_circle() {
        for (int turn = 0; turn < 3; turn++) {
            List<NewRun> one = new ArrayList<>(Order.mail().fifoKey("a").times(2_000));
            one.addAll(Order.mail().fifoKey("b").times(2_000));
            List<NewRun> other = new ArrayList<>(Order.mail().fifoKey("b").times(2_000));
            other.addAll(Order.mail().fifoKey("a").times(2_000));
            both(one, other);
        }
    }

    @Test
    void two_bulks_of_the_same_keys_in_another_order_do_not_wait_in_a_circle() {
        for (int turn = 0; turn < 3; turn++) {
            List<NewRun> one = new ArrayList<>();
            List<NewRun> other = new ArrayList<>();
            for (int i = 0; i < 3_000; i++) {
                one.add(Order.mail().key("k" + turn + "." + i).run().holding(Duration.ofHours(1)));
                other.add(Order.mail().key("k" + turn + "." + (2_999 - i)).run().holding(Duration.ofHours(1)));
            }
            both(one, other);
        }
        assertThat(claim(node(), 9_999)).hasSize(9_000);
    }

    @Test
    void storing_the_same_runs_again_changes_nothing_and_answers_the_same() {
        List<NewRun> runs = List.of(Order.mail().key("a").run(), Order.mail().run());
        List<EnqueueResult> first = storage().inbox().enqueue(runs);
        String before = bench().print();

        assertThat(storage().inbox().enqueue(runs)).isEqualTo(first);

        assertThat(bench().print()).isEqualTo(before);
    }

    @Test
    void many_runs_at_once_are_stored_as_they_are_one_by_one() {
        List<Order> kinds = List.of(
                Order.mail(),
                Order.mail().after(Duration.ofMinutes(90)),
                Order.mail().at(StoreBench.NOON.minus(Duration.ofDays(3))),
                Order.mail().at(StoreBench.NOON.plus(Duration.ofDays(2)).plusNanos(1_600)),
                Order.mail().of(Priority.HIGH).to("umlaut.ä").in(new Lane("ö", "default")));
        List<NewRun> runs = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) runs.add(kinds.get(i % kinds.size()).run());

        List<EnqueueResult> results = storage().inbox().enqueue(runs);

        assertThat(results)
                .containsExactlyElementsOf(runs.stream()
                        .map(run -> (EnqueueResult) new EnqueueResult.Enqueued(run.id()))
                        .toList());
        for (int i = 0; i < kinds.size(); i++) {
            NewRun alone = kinds.get(i).run();
            storage().inbox().enqueue(List.of(alone));
            assertThat(get(runs.get(i).id()))
                    .usingRecursiveComparison()
                    .ignoringFields("id")
                    .isEqualTo(get(alone.id()));
        }
        assertThat(claim(node(), 500))
                .hasSizeGreaterThan(400)
                .allSatisfy(attempt -> assertThat(attempt.payload()).isEqualTo(Order.payload(attempt.run())));
    }

    @Test
    void storing_many_runs_again_changes_nothing_and_answers_the_same() {
        List<NewRun> runs = Order.mail().times(2_500);
        List<EnqueueResult> first = storage().inbox().enqueue(runs);
        String before = bench().print();

        assertThat(storage().inbox().enqueue(runs)).isEqualTo(first);

        assertThat(bench().print()).isEqualTo(before);
    }

    @Test
    void one_refused_run_spoils_none_of_those_that_other_threads_store_at_the_same_time() {
        List<Object> answers = Together.run(60, thread -> {
            NewRun run = thread % 6 == 0
                    ? Order.mail().key("nul \0 inside " + thread).run()
                    : Order.mail().key("k" + thread % 10).run();
            try {
                return storage().inbox().enqueue(List.of(run)).get(0);
            } catch (RuntimeException refused) {
                return refused;
            }
        });

        for (int thread = 0; thread < 60; thread++) {
            if (thread % 6 == 0) assertThat(answers.get(thread)).isInstanceOf(CarillonException.class);
            else assertThat(answers.get(thread)).isInstanceOf(EnqueueResult.class);
        }
        assertThat(answers.stream().filter(EnqueueResult.Enqueued.class::isInstance))
                .hasSize(10);
        assertThat(storage().runDesk().list(PROJECT, RunFilter.all())).hasSize(10);
    }

    @Test
    void an_interrupted_thread_stores_its_run_and_stays_interrupted() {
        Thread.currentThread().interrupt();

        EnqueueResult result =
                storage().inbox().enqueue(List.of(Order.mail().run())).get(0);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(result).isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void the_nodes_are_told_of_one_run_and_of_many_if_asked() {
        Instant later = StoreBench.NOON.plus(Duration.ofHours(1));
        WakeChannel.Ear ear = storage().wake().listen().orElseThrow();
        try (ear) {
            storage().inbox().enqueue(List.of(Order.mail().run()), true);
            storage().inbox().enqueue(List.of(Order.mail().run()), false);
            assertThat(ear.await(Duration.ofSeconds(5)))
                    .extracting(RunInboxContract::told)
                    .containsExactly("mail " + Instant.EPOCH);
            storage().inbox().enqueue(Order.mail().at(later).times(2_500), true);
            assertThat(ear.await(Duration.ofSeconds(5)))
                    .extracting(RunInboxContract::told)
                    .containsExactly("mail " + later);
        }
    }

    @Test
    void one_run_that_cannot_be_stored_keeps_all_out() {
        List<NewRun> runs = new ArrayList<>(Order.mail().times(4_999));
        NewRun good = Order.mail().run();
        runs.add(new NewRun(
                good.id(),
                good.lane(),
                good.priority(),
                good.origin(),
                good.target(),
                good.payload(),
                good.due(),
                "nul \0 inside",
                null,
                null));

        assertThatThrownBy(() -> storage().inbox().enqueue(runs)).isInstanceOf(RuntimeException.class);

        assertThat(storage().runDesk().list(PROJECT, RunFilter.all())).isEmpty();
    }

    @Test
    void in_the_callers_transaction_nothing_is_visible_before_its_commit() throws SQLException {
        NewRun run = Order.mail().run();
        try (Connection connection = bench().open()) {
            connection.setAutoCommit(false);
            assertThat(storage().inbox().enqueueIn(connection, List.of(run)))
                    .containsExactly(new EnqueueResult.Enqueued(run.id()));

            assertThat(storage().runDesk().get(PROJECT, run.id())).isEmpty();
            assertThat(claim(node(), 5)).isEmpty();
            connection.commit();
            connection.setAutoCommit(true);
        }
        assertThat(get(run.id()).state()).isEqualTo(RunState.WAITING);
    }

    @Test
    void rolling_back_the_callers_transaction_leaves_nothing_and_frees_the_key() throws SQLException {
        String before = bench().print();
        try (Connection connection = bench().open()) {
            connection.setAutoCommit(false);
            storage()
                    .inbox()
                    .enqueueIn(connection, List.of(Order.mail().key("k").run()));
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(bench().print()).isEqualTo(before);
        fresh("rolled back");
    }

    @Test
    void a_key_taken_by_an_open_transaction_is_decided_by_its_end() throws Exception {
        NewRun first = Order.mail().key("k").run();
        NewRun second = Order.mail().key("k").run();
        try (Connection connection = bench().open()) {
            connection.setAutoCommit(false);
            storage().inbox().enqueueIn(connection, List.of(first));

            List<Object> answers = Together.run(2, thread -> {
                if (thread == 0)
                    return bench().another().inbox().enqueue(List.of(second)).get(0);
                connection.commit();
                connection.setAutoCommit(true);
                return "committed";
            });

            assertThat(answers.get(0)).isEqualTo(new EnqueueResult.AlreadyThere(first.id()));
        }
    }

    @Test
    void the_hint_rides_along_with_the_callers_commit_once_for_each_lane() throws SQLException {
        Lane orders = new Lane("orders", "default");
        try (WakeChannel.Ear ear = storage().wake().listen().orElseThrow();
                Connection connection = bench().open()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < 3; i++) {
                storage().inbox().enqueueIn(connection, Order.mail().times(2));
                storage()
                        .inbox()
                        .enqueueIn(
                                connection,
                                Order.mail().in(orders).after(SECOND).times(2));
            }
            assertThat(ear.await(Duration.ofMillis(50))).isEmpty();
            connection.commit();
            connection.setAutoCommit(true);

            List<Signal> heard = new ArrayList<>(ear.await(Duration.ofSeconds(5)));
            while (heard.size() < 2) heard.addAll(ear.await(Duration.ofSeconds(5)));
            heard.addAll(ear.await(Duration.ofMillis(50)));
            assertThat(heard)
                    .extracting(RunInboxContract::told)
                    .containsExactlyInAnyOrder("mail " + Instant.EPOCH, "orders " + StoreBench.NOON.plus(SECOND));
        }
    }

    /** Without its lot, which is drawn anew each time. */
    private static String told(Signal signal) {
        Signal.Work work = (Signal.Work) signal;
        return work.lane().queue() + " " + work.readyAt();
    }

    @Test
    void stores_any_key_and_payload_unchanged() {
        String key = "%_'\"\\;-- \u202E ß 𝄞 " + "x".repeat(150);
        RunId id = enqueue(Order.mail().key(key));

        assertThat(get(id).details().key()).isEqualTo(key);
        assertThat(claimOne(node()).payload()).isEqualTo(Order.payload(id));
    }
}
