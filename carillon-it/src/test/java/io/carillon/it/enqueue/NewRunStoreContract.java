package io.carillon.it.enqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.node.Hint;
import io.carillon.internal.store.node.WakeChannel;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Priority;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * Enqueueing: all runs of a call are stored or none, unique keys hold once, and a caller's transaction decides
 * by its commit.
 */
abstract class NewRunStoreContract extends StoreContract {
    @Test
    void returns_the_results_in_the_order_of_the_runs() {
        List<NewRun> runs = RunSpec.mail().copies(5);

        List<EnqueueResult> results = storage().newRuns().enqueue(runs);

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
    void a_delay_starts_at_the_time_of_the_database_clock() {
        advance(Duration.ofMinutes(1));

        RunId id = enqueue(RunSpec.mail().after(Duration.ofHours(1)));

        assertThat(get(id).instants().dueAt()).isEqualTo(StoreFixture.NOON.plus(Duration.ofMinutes(61)));
    }

    @Test
    void a_hundred_concurrent_enqueues_of_one_key_store_one_run() {
        List<EnqueueResult> results = Concurrently.run(100, thread -> {
            List<NewRun> one = List.of(RunSpec.mail().key("order:17").run());
            return (thread % 2 == 0 ? storage() : fixture().secondStorage())
                    .newRuns()
                    .enqueue(one)
                    .get(0);
        });

        assertThat(results.stream().filter(EnqueueResult.Enqueued.class::isInstance))
                .hasSize(1);
        assertThat(results.stream().map(EnqueueResult::run).distinct()).hasSize(1);
        assertThat(storage().runAdmin().list(PROJECT, RunFilter.all())).hasSize(1);
    }

    @Test
    void a_key_is_unique_per_handler_and_project_in_every_queue() {
        RunSpec spec = RunSpec.mail().key("k");
        RunId first = enqueue(spec);

        for (RunSpec other : List.of(spec.withHandler("mail.bounce"), spec.inLane(new Lane("mail", "other"))))
            assertThat(storage().newRuns().enqueue(List.of(other.run())).get(0))
                    .isInstanceOf(EnqueueResult.Enqueued.class);
        assertThat(storage()
                        .newRuns()
                        .enqueue(List.of(
                                spec.inLane(new Lane("orders", "default")).run())))
                .containsExactly(new EnqueueResult.Duplicate(first));
    }

    @Test
    void a_key_is_taken_while_its_run_waits_runs_or_retries_and_free_when_it_has_ended() {
        UUID node = node();
        enqueue(RunSpec.mail().key("k"));
        assertKeyTaken("waiting");
        Attempt attempt = claimOne(node);
        assertKeyTaken("running");
        apply(node, attempt, new Transition.Retry(Duration.ZERO, "oops", false));
        assertKeyTaken("retrying");
        apply(node, claimOne(node), new Transition.Snooze(Duration.ZERO));
        assertKeyTaken("snoozing");

        apply(node, claimOne(node), complete());
        assertKeyFree("succeeded");
        apply(node, claimOne(node), new Transition.MarkDead("no"));
        assertKeyFree("dead");
        apply(node, claimOne(node), new Transition.Cancel("no"));
        RunId waiting = assertKeyFree("cancelled while running");
        storage().runAdmin().cancel(PROJECT, waiting, "no");
        assertKeyFree("cancelled while waiting");
    }

    @Test
    void a_key_is_taken_after_a_crash_and_free_after_quarantine() {
        enqueue(RunSpec.mail().key("k"));
        UUID first = node();
        claimOne(first);
        declareDeadTwice(first);
        assertKeyTaken("crashed");
        UUID second = node();
        assertThat(storage().runs().claimOneIsolated(second, Set.of(RunSpec.HANDLER)))
                .isPresent();
        crash(second);
        assertKeyFree("quarantined");
    }

    private void crash(UUID node) {
        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().rescue(1);
    }

    private void assertKeyTaken(String why) {
        assertThat(storage()
                        .newRuns()
                        .enqueue(List.of(RunSpec.mail().key("k").run()))
                        .get(0))
                .as(why)
                .isInstanceOf(EnqueueResult.Duplicate.class);
    }

    private RunId assertKeyFree(String why) {
        EnqueueResult result = storage()
                .newRuns()
                .enqueue(List.of(RunSpec.mail().key("k").run()))
                .get(0);
        assertThat(result).as(why).isInstanceOf(EnqueueResult.Enqueued.class);
        return result.run();
    }

    @Test
    void the_first_of_equal_keys_in_one_call_is_stored_and_the_others_are_duplicates_of_it() {
        RunId there = enqueue(RunSpec.mail().key("a"));
        List<NewRun> runs = List.of(
                RunSpec.mail().key("b").run(),
                RunSpec.mail().key("a").run(),
                RunSpec.mail().run(),
                RunSpec.mail().key("b").run());

        List<EnqueueResult> results = storage().newRuns().enqueue(runs);

        assertThat(results)
                .containsExactly(
                        new EnqueueResult.Enqueued(runs.get(0).id()),
                        new EnqueueResult.Duplicate(there),
                        new EnqueueResult.Enqueued(runs.get(2).id()),
                        new EnqueueResult.Duplicate(runs.get(0).id()));
    }

    @Test
    void many_runs_with_duplicate_keys_are_stored_once_per_key() {
        List<NewRun> runs = new ArrayList<>();
        for (int i = 0; i < 5_000; i++)
            runs.add(RunSpec.mail().key("k" + i % 3_000).run());

        List<EnqueueResult> results = storage().newRuns().enqueue(runs);

        for (int i = 0; i < runs.size(); i++)
            assertThat(results.get(i))
                    .isEqualTo(
                            i < 3_000
                                    ? new EnqueueResult.Enqueued(runs.get(i).id())
                                    : new EnqueueResult.Duplicate(
                                            runs.get(i - 3_000).id()));
    }

    /** Enqueues in two callers' transactions, which the store does not retry after a deadlock. */
    private void enqueueConcurrently(List<NewRun> one, List<NewRun> other) {
        Concurrently.run(2, thread -> {
            try (Connection caller = fixture().open()) {
                caller.setAutoCommit(false);
                storage().newRuns().enqueueIn(caller, thread == 0 ? one : other);
                caller.commit();
                return thread;
            }
        });
    }

    @Test
    void two_batches_with_the_same_fifo_keys_in_different_order_do_not_deadlock() {
        for (int turn = 0; turn < 3; turn++) {
            List<NewRun> one = new ArrayList<>(RunSpec.mail().fifoKey("a").copies(2_000));
            one.addAll(RunSpec.mail().fifoKey("b").copies(2_000));
            List<NewRun> other = new ArrayList<>(RunSpec.mail().fifoKey("b").copies(2_000));
            other.addAll(RunSpec.mail().fifoKey("a").copies(2_000));
            enqueueConcurrently(one, other);
        }
    }

    @Test
    void two_batches_with_the_same_keys_in_different_order_do_not_deadlock() {
        for (int turn = 0; turn < 3; turn++) {
            List<NewRun> one = new ArrayList<>();
            List<NewRun> other = new ArrayList<>();
            for (int i = 0; i < 3_000; i++) {
                one.add(RunSpec.mail().key("k" + turn + "." + i).run().withKeyWindow(Duration.ofHours(1)));
                other.add(
                        RunSpec.mail().key("k" + turn + "." + (2_999 - i)).run().withKeyWindow(Duration.ofHours(1)));
            }
            enqueueConcurrently(one, other);
        }
        assertThat(claim(node(), 9_999)).hasSize(9_000);
    }

    @Test
    void storing_the_same_runs_again_changes_nothing_and_returns_the_same_results() {
        List<NewRun> runs =
                List.of(RunSpec.mail().key("a").run(), RunSpec.mail().run());
        List<EnqueueResult> first = storage().newRuns().enqueue(runs);
        String before = fixture().dump();

        assertThat(storage().newRuns().enqueue(runs)).isEqualTo(first);

        assertThat(fixture().dump()).isEqualTo(before);
    }

    @Test
    void runs_stored_in_a_large_batch_equal_runs_stored_one_by_one() {
        List<RunSpec> kinds = List.of(
                RunSpec.mail(),
                RunSpec.mail().after(Duration.ofMinutes(90)),
                RunSpec.mail().at(StoreFixture.NOON.minus(Duration.ofDays(3))),
                RunSpec.mail().at(StoreFixture.NOON.plus(Duration.ofDays(2)).plusNanos(1_600)),
                RunSpec.mail()
                        .withPriority(Priority.HIGH)
                        .withHandler("umlaut.ä")
                        .inLane(new Lane("ö", "default")));
        List<NewRun> runs = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) runs.add(kinds.get(i % kinds.size()).run());

        List<EnqueueResult> results = storage().newRuns().enqueue(runs);

        assertThat(results)
                .containsExactlyElementsOf(runs.stream()
                        .map(run -> (EnqueueResult) new EnqueueResult.Enqueued(run.id()))
                        .toList());
        for (int i = 0; i < kinds.size(); i++) {
            NewRun alone = kinds.get(i).run();
            storage().newRuns().enqueue(List.of(alone));
            assertThat(get(runs.get(i).id()))
                    .usingRecursiveComparison()
                    .ignoringFields("id")
                    .isEqualTo(get(alone.id()));
        }
        assertThat(claim(node(), 500))
                .hasSizeGreaterThan(400)
                .allSatisfy(attempt -> assertThat(attempt.payload()).isEqualTo(RunSpec.payload(attempt.run())));
    }

    @Test
    void storing_many_runs_again_changes_nothing_and_returns_the_same_results() {
        List<NewRun> runs = RunSpec.mail().copies(2_500);
        List<EnqueueResult> first = storage().newRuns().enqueue(runs);
        String before = fixture().dump();

        assertThat(storage().newRuns().enqueue(runs)).isEqualTo(first);

        assertThat(fixture().dump()).isEqualTo(before);
    }

    @Test
    void a_rejected_run_does_not_fail_runs_that_other_threads_store_concurrently() {
        List<Object> answers = Concurrently.run(60, thread -> {
            NewRun run = thread % 6 == 0
                    ? RunSpec.mail().key("nul \0 inside " + thread).run()
                    : RunSpec.mail().key("k" + thread % 10).run();
            try {
                return storage().newRuns().enqueue(List.of(run)).get(0);
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
        assertThat(storage().runAdmin().list(PROJECT, RunFilter.all())).hasSize(10);
    }

    @Test
    void an_interrupted_thread_stores_its_run_and_stays_interrupted() {
        Thread.currentThread().interrupt();

        EnqueueResult result =
                storage().newRuns().enqueue(List.of(RunSpec.mail().run())).get(0);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(result).isInstanceOf(EnqueueResult.Enqueued.class);
    }

    @Test
    void nodes_are_notified_of_one_run_and_of_many_if_requested() {
        Instant later = StoreFixture.NOON.plus(Duration.ofHours(1));
        WakeChannel.Subscription subscription = storage().wake().listen().orElseThrow();
        try (subscription) {
            storage().newRuns().enqueue(List.of(RunSpec.mail().run()), true);
            storage().newRuns().enqueue(List.of(RunSpec.mail().run()), false);
            assertThat(subscription.await(Duration.ofSeconds(5)))
                    .extracting(NewRunStoreContract::hintText)
                    .containsExactly("mail " + Instant.EPOCH);
            storage().newRuns().enqueue(RunSpec.mail().at(later).copies(2_500), true);
            assertThat(subscription.await(Duration.ofSeconds(5)))
                    .extracting(NewRunStoreContract::hintText)
                    .containsExactly("mail " + later);
        }
    }

    @Test
    void one_run_that_cannot_be_stored_rejects_the_whole_call() {
        List<NewRun> runs = new ArrayList<>(RunSpec.mail().copies(4_999));
        NewRun good = RunSpec.mail().run();
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

        assertThatThrownBy(() -> storage().newRuns().enqueue(runs)).isInstanceOf(RuntimeException.class);

        assertThat(storage().runAdmin().list(PROJECT, RunFilter.all())).isEmpty();
    }

    @Test
    void in_the_callers_transaction_nothing_is_visible_before_its_commit() throws SQLException {
        NewRun run = RunSpec.mail().run();
        try (Connection connection = fixture().open()) {
            connection.setAutoCommit(false);
            assertThat(storage().newRuns().enqueueIn(connection, List.of(run)))
                    .containsExactly(new EnqueueResult.Enqueued(run.id()));

            assertThat(storage().runAdmin().get(PROJECT, run.id())).isEmpty();
            assertThat(claim(node(), 5)).isEmpty();
            connection.commit();
            connection.setAutoCommit(true);
        }
        assertThat(get(run.id()).state()).isEqualTo(RunState.WAITING);
    }

    @Test
    void rolling_back_the_callers_transaction_leaves_nothing_and_frees_the_key() throws SQLException {
        String before = fixture().dump();
        try (Connection connection = fixture().open()) {
            connection.setAutoCommit(false);
            storage()
                    .newRuns()
                    .enqueueIn(connection, List.of(RunSpec.mail().key("k").run()));
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(fixture().dump()).isEqualTo(before);
        assertKeyFree("rolled back");
    }

    @Test
    void a_key_taken_by_an_open_transaction_is_decided_by_its_end() throws Exception {
        NewRun first = RunSpec.mail().key("k").run();
        NewRun second = RunSpec.mail().key("k").run();
        try (Connection connection = fixture().open()) {
            connection.setAutoCommit(false);
            storage().newRuns().enqueueIn(connection, List.of(first));

            List<Object> answers = Concurrently.run(2, thread -> {
                if (thread == 0)
                    return fixture()
                            .secondStorage()
                            .newRuns()
                            .enqueue(List.of(second))
                            .get(0);
                connection.commit();
                connection.setAutoCommit(true);
                return "committed";
            });

            assertThat(answers.get(0)).isEqualTo(new EnqueueResult.Duplicate(first.id()));
        }
    }

    @Test
    void a_notification_is_sent_with_the_callers_commit_once_per_lane() throws SQLException {
        Lane orders = new Lane("orders", "default");
        try (WakeChannel.Subscription subscription = storage().wake().listen().orElseThrow();
                Connection connection = fixture().open()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < 3; i++) {
                storage().newRuns().enqueueIn(connection, RunSpec.mail().copies(2));
                storage()
                        .newRuns()
                        .enqueueIn(
                                connection,
                                RunSpec.mail().inLane(orders).after(SECOND).copies(2));
            }
            assertThat(subscription.await(Duration.ofMillis(50))).isEmpty();
            connection.commit();
            connection.setAutoCommit(true);

            List<Hint> received = new ArrayList<>(subscription.await(Duration.ofSeconds(5)));
            while (received.size() < 2) received.addAll(subscription.await(Duration.ofSeconds(5)));
            received.addAll(subscription.await(Duration.ofMillis(50)));
            assertThat(received)
                    .extracting(NewRunStoreContract::hintText)
                    .containsExactlyInAnyOrder("mail " + Instant.EPOCH, "orders " + StoreFixture.NOON.plus(SECOND));
        }
    }

    /** Returns the hint without its random number, which differs each time. */
    private static String hintText(Hint hint) {
        Hint.Work work = (Hint.Work) hint;
        return work.lane().queue() + " " + work.readyAt();
    }

    @Test
    void stores_any_key_and_payload_unchanged() {
        String key = "%_'\"\\;-- \u202E ß 𝄞 " + "x".repeat(150);
        RunId id = enqueue(RunSpec.mail().key(key));

        assertThat(get(id).details().uniqueKey()).isEqualTo(key);
        assertThat(claimOne(node()).payload()).isEqualTo(RunSpec.payload(id));
    }
}
