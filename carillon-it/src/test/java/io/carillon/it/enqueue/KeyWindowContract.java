package io.carillon.it.enqueue;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.run.EnqueueResult;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Unique keys with a window: the key stays taken for the window, whether or not its run has ended. */
abstract class KeyWindowContract extends StoreContract {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final RunSpec KEYED_RUN = RunSpec.mail().key("order-7");

    private EnqueueResult enqueueWithWindow(RunSpec spec) {
        return storage()
                .newRuns()
                .enqueue(List.of(spec.run().withKeyWindow(HOUR)))
                .get(0);
    }

    private void runAll() {
        UUID node = node();
        for (Attempt attempt : claim(node, 99)) apply(node, attempt, complete());
    }

    @Test
    void the_key_of_an_ended_run_stays_taken_until_the_window_is_over() {
        RunId first = enqueueWithWindow(KEYED_RUN).run();
        runAll();

        assertThat(enqueueWithWindow(KEYED_RUN)).isEqualTo(new EnqueueResult.Duplicate(first));
        advance(HOUR.minusMillis(1));
        assertThat(enqueueWithWindow(KEYED_RUN)).isEqualTo(new EnqueueResult.Duplicate(first));
        assertThat(claim(node(), 9)).isEmpty();

        advance(Duration.ofMillis(1));
        assertThat(enqueueWithWindow(KEYED_RUN)).isInstanceOf(EnqueueResult.Enqueued.class);
        runAll();
        assertThat(enqueueWithWindow(KEYED_RUN)).isInstanceOf(EnqueueResult.Duplicate.class);
    }

    @Test
    void a_run_that_outlives_its_window_keeps_its_key_until_it_has_ended() {
        RunId first = enqueueWithWindow(KEYED_RUN).run();
        advance(HOUR.multipliedBy(2));

        assertThat(enqueueWithWindow(KEYED_RUN)).isEqualTo(new EnqueueResult.Duplicate(first));
        runAll();
        assertThat(enqueueWithWindow(KEYED_RUN)).isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void an_enqueue_without_a_window_considers_live_runs_only() {
        RunId first = enqueueWithWindow(KEYED_RUN).run();
        assertThat(storage().newRuns().enqueue(List.of(KEYED_RUN.run())))
                .containsExactly(new EnqueueResult.Duplicate(first));
        runAll();

        RunId plain = enqueue(KEYED_RUN);
        assertThat(plain).isNotEqualTo(first);
        assertThat(enqueueWithWindow(KEYED_RUN)).isEqualTo(new EnqueueResult.Duplicate(first));
    }

    @Test
    void an_enqueue_that_finds_a_live_run_starts_no_window() {
        RunId plain = enqueue(KEYED_RUN);
        assertThat(enqueueWithWindow(KEYED_RUN)).isEqualTo(new EnqueueResult.Duplicate(plain));
        runAll();

        assertThat(enqueueWithWindow(KEYED_RUN)).isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void keys_are_scoped_to_their_handler_in_every_queue() {
        RunId first = enqueueWithWindow(KEYED_RUN).run();
        assertThat(enqueueWithWindow(KEYED_RUN.inLane(new Lane("orders", PROJECT))))
                .isEqualTo(new EnqueueResult.Duplicate(first));
        assertThat(enqueueWithWindow(KEYED_RUN.withHandler("mail.bounce"))).isInstanceOf(EnqueueResult.Enqueued.class);
        assertThat(enqueueWithWindow(KEYED_RUN.inLane(new Lane("mail", "other"))))
                .isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void each_run_of_one_call_gets_its_own_answer() {
        NewRun there = KEYED_RUN.run().withKeyWindow(HOUR);
        storage().newRuns().enqueue(List.of(there));
        NewRun first = RunSpec.mail().key("order-8").run().withKeyWindow(HOUR);
        NewRun same = RunSpec.mail().key("order-8").run().withKeyWindow(HOUR);
        NewRun plain = RunSpec.mail().run();
        NewRun gated =
                RunSpec.mail().key("order-9").concurrencyKey("shop", 1).run().withKeyWindow(HOUR);

        assertThat(storage().newRuns().enqueue(List.of(first, KEYED_RUN.run().withKeyWindow(HOUR), same, plain, gated)))
                .containsExactly(
                        new EnqueueResult.Enqueued(first.id()),
                        new EnqueueResult.Duplicate(there.id()),
                        new EnqueueResult.Duplicate(first.id()),
                        new EnqueueResult.Enqueued(plain.id()),
                        new EnqueueResult.Enqueued(gated.id()));
        passGates();
        assertThat(claim(node(), 9)).hasSize(4);
    }

    @Test
    void a_hundred_concurrent_enqueues_store_one_run() {
        List<RunId> answers =
                Concurrently.run(100, thread -> enqueueWithWindow(KEYED_RUN).run());

        assertThat(answers).hasSize(100).containsOnly(answers.get(0));
        assertThat(storage().runAdmin().list(PROJECT, RunFilter.all())).hasSize(1);
    }

    @Test
    void a_callers_transaction_that_is_rolled_back_leaves_the_key_free() throws SQLException {
        try (Connection caller = fixture().open()) {
            caller.setAutoCommit(false);
            storage().newRuns().enqueueIn(caller, List.of(KEYED_RUN.run().withKeyWindow(HOUR)));
            caller.rollback();
        }

        assertThat(enqueueWithWindow(KEYED_RUN)).isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void storing_the_same_run_again_returns_the_same_result_even_after_it_has_ended() {
        NewRun run = KEYED_RUN.run().withKeyWindow(HOUR);
        List<EnqueueResult> first = storage().newRuns().enqueue(List.of(run));
        runAll();

        assertThat(storage().newRuns().enqueue(List.of(run))).isEqualTo(first);
        assertThat(claim(node(), 9)).isEmpty();
    }
}
