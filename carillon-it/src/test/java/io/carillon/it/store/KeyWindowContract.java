package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Lane;
import io.carillon.run.NewRun;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Keys that hold for a while, whether or not their run has ended. */
abstract class KeyWindowContract extends StoreContract {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Order ORDER = Order.mail().key("order-7");

    private EnqueueResult hold(Order order) {
        return storage().inbox().enqueue(List.of(order.run().holding(HOUR))).get(0);
    }

    private void runAll() {
        UUID node = node();
        for (Attempt attempt : claim(node, 99)) apply(node, attempt, complete());
    }

    @Test
    void the_key_of_a_run_that_has_ended_answers_with_it_until_the_window_is_over() {
        RunId first = hold(ORDER).run();
        runAll();

        assertThat(hold(ORDER)).isEqualTo(new EnqueueResult.AlreadyThere(first));
        advance(HOUR.minusMillis(1));
        assertThat(hold(ORDER)).isEqualTo(new EnqueueResult.AlreadyThere(first));
        assertThat(claim(node(), 9)).isEmpty();

        advance(Duration.ofMillis(1));
        assertThat(hold(ORDER)).isInstanceOf(EnqueueResult.Enqueued.class);
        runAll();
        assertThat(hold(ORDER)).isInstanceOf(EnqueueResult.AlreadyThere.class);
    }

    @Test
    void a_run_that_outlives_its_window_keeps_its_key_until_it_has_ended() {
        RunId first = hold(ORDER).run();
        advance(HOUR.multipliedBy(2));

        assertThat(hold(ORDER)).isEqualTo(new EnqueueResult.AlreadyThere(first));
        runAll();
        assertThat(hold(ORDER)).isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void an_enqueue_without_a_window_looks_at_living_runs_only() {
        RunId first = hold(ORDER).run();
        assertThat(storage().inbox().enqueue(List.of(ORDER.run())))
                .containsExactly(new EnqueueResult.AlreadyThere(first));
        runAll();

        RunId plain = enqueue(ORDER);
        assertThat(plain).isNotEqualTo(first);
        assertThat(hold(ORDER)).isEqualTo(new EnqueueResult.AlreadyThere(first));
    }

    @Test
    void who_meets_a_living_run_holds_nothing() {
        RunId plain = enqueue(ORDER);
        assertThat(hold(ORDER)).isEqualTo(new EnqueueResult.AlreadyThere(plain));
        runAll();

        assertThat(hold(ORDER)).isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void keys_belong_to_their_handler_whatever_the_queue() {
        RunId first = hold(ORDER).run();
        assertThat(hold(ORDER.in(new Lane("orders", PROJECT)))).isEqualTo(new EnqueueResult.AlreadyThere(first));
        assertThat(hold(ORDER.to("mail.bounce"))).isInstanceOf(EnqueueResult.Enqueued.class);
        assertThat(hold(ORDER.in(new Lane("mail", "other")))).isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void of_many_in_one_call_each_gets_its_answer() {
        NewRun there = ORDER.run().holding(HOUR);
        storage().inbox().enqueue(List.of(there));
        NewRun first = Order.mail().key("order-8").run().holding(HOUR);
        NewRun same = Order.mail().key("order-8").run().holding(HOUR);
        NewRun plain = Order.mail().run();
        NewRun gated =
                Order.mail().key("order-9").concurrencyKey("shop", 1).run().holding(HOUR);

        assertThat(storage().inbox().enqueue(List.of(first, ORDER.run().holding(HOUR), same, plain, gated)))
                .containsExactly(
                        new EnqueueResult.Enqueued(first.id()),
                        new EnqueueResult.AlreadyThere(there.id()),
                        new EnqueueResult.AlreadyThere(first.id()),
                        new EnqueueResult.Enqueued(plain.id()),
                        new EnqueueResult.Enqueued(gated.id()));
        passGates();
        assertThat(claim(node(), 9)).hasSize(4);
    }

    @Test
    void a_hundred_at_the_same_time_store_one_run() {
        List<RunId> answers = Together.run(100, thread -> hold(ORDER).run());

        assertThat(answers).hasSize(100).containsOnly(answers.get(0));
        assertThat(storage().runDesk().list(PROJECT, RunFilter.all())).hasSize(1);
    }

    @Test
    void a_callers_transaction_that_is_rolled_back_leaves_the_key_free() throws SQLException {
        try (Connection caller = bench().open()) {
            caller.setAutoCommit(false);
            storage().inbox().enqueueIn(caller, List.of(ORDER.run().holding(HOUR)));
            caller.rollback();
        }

        assertThat(hold(ORDER)).isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void storing_the_same_run_again_answers_the_same_even_after_it_has_ended() {
        NewRun run = ORDER.run().holding(HOUR);
        List<EnqueueResult> first = storage().inbox().enqueue(List.of(run));
        runAll();

        assertThat(storage().inbox().enqueue(List.of(run))).isEqualTo(first);
        assertThat(claim(node(), 9)).isEmpty();
    }
}
