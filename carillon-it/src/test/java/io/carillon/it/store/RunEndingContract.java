package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Decider;
import io.carillon.run.Outcome;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.RetryRule;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.store.AttemptRecord;
import io.carillon.store.Ended;
import io.carillon.store.HeldRun;
import io.carillon.store.Verdict;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How attempts end: what is written, once, and only by who holds the run. */
abstract class RunEndingContract extends StoreContract {
    private static final Duration PAUSE = Duration.ofSeconds(90);

    private static final Map<Class<?>, Transition> TRANSITIONS = Map.of(
            Transition.Complete.class, new Transition.Complete(bytes("{\"sent\":1}")),
            Transition.Retry.class, new Transition.Retry(PAUSE, "no route", false),
            Transition.Snooze.class, new Transition.Snooze(PAUSE),
            Transition.Await.class, new Transition.Await(PAUSE, "digest", PAUSE),
            Transition.Die.class, new Transition.Die("never again"),
            Transition.Cancel.class, new Transition.Cancel("ann said so"));

    /** A new kind of transition without an example fails here. */
    static Stream<Transition> transitions() {
        return Stream.of(Transition.class.getPermittedSubclasses()).map(kind -> {
            Transition example = TRANSITIONS.get(kind);
            if (example == null) throw new AssertionError("no example of " + kind);
            return example;
        });
    }

    @Test
    void a_run_that_succeeds_leaves_one_line_of_history_and_nothing_else() {
        RunId id = enqueue(Order.mail().key("k"));
        UUID node = node();
        Attempt attempt = claimOne(node);
        advance(PAUSE);

        Ended ended = new Ended(attempt, TRANSITIONS.get(Transition.Complete.class), SECOND, "said hello");
        assertThat(storage().runs().apply(node, List.of(ended))).containsExactly(Verdict.ACCEPTED);

        Run run = get(id);
        Instant now = StoreBench.NOON.plus(PAUSE);
        assertThat(run.state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(run.instants())
                .isEqualTo(new Run.Instants(StoreBench.NOON, StoreBench.NOON, null, now.minus(SECOND), now));
        assertThat(run.details())
                .isEqualTo(
                        new Run.Details(null, null, "k", null, null, bytes("{\"sent\":1}"), "said hello", null, null));
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(1, 0, 0);
        assertThat(storage().runDesk().attempts(PROJECT, id)).isEmpty();
        assertThat(storage().runDesk().dead(PROJECT, RunFilter.all())).isEmpty();
        assertThat(storage().runs().held(node)).isEmpty();
    }

    @Test
    void a_failure_counts_and_waits_for_its_pause() {
        RunId id = enqueue(Order.mail());
        UUID node = node();

        apply(node, claimOne(node), new Transition.Retry(PAUSE, "no route", false));
        apply(node, afterPause(node), new Transition.Retry(PAUSE, "timed out after 1 s", true));
        Attempt third = afterPause(node);

        assertThat(third.counts().failures()).isEqualTo(2);
        assertThat(third.number()).isEqualTo(3);
        assertThat(third.times().dueAt()).isEqualTo(StoreBench.NOON);
        assertThat(storage().runDesk().attempts(PROJECT, id))
                .containsExactly(
                        record(1, node, StoreBench.NOON, "failed", "no route"),
                        record(2, node, StoreBench.NOON.plus(PAUSE), "timed-out", "timed out after 1 s"));
        apply(node, third, complete());
        assertThat(get(id)).returns(3, Run::attempt).returns(2, Run::failures);
    }

    /** Nothing a moment before the pause is over, the run right at its end. */
    private Attempt afterPause(UUID node) {
        advance(PAUSE.minusMillis(1));
        assertThat(claim(node, 1)).isEmpty();
        advance(Duration.ofMillis(1));
        return claimOne(node);
    }

    private static AttemptRecord record(int number, UUID node, Instant at, String outcome, String error) {
        return new AttemptRecord(number, node, at.minus(SECOND), at, outcome, error, PAUSE, null, null);
    }

    @Test
    void a_snooze_counts_nothing() {
        RunId id = enqueue(Order.mail());
        UUID node = node();

        apply(node, claimOne(node), new Transition.Snooze(PAUSE));
        Attempt second = afterPause(node);

        assertThat(second.number()).isEqualTo(2);
        assertThat(second.counts()).isEqualTo(new Attempt.Counts(0, 0, 0));
        assertThat(storage().runDesk().attempts(PROJECT, id))
                .containsExactly(record(1, node, StoreBench.NOON, "snoozed", null));
    }

    @Test
    void a_dead_run_is_in_history_and_in_the_dead_letter() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        apply(node, claimOne(node), new Transition.Retry(Duration.ZERO, "no route", false));

        apply(node, claimOne(node), new Transition.Die("never again"));

        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.DEAD);
        assertThat(run.details().reason()).isEqualTo("never again");
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(2, 2, 0);
        assertThat(storage().runDesk().dead(PROJECT, RunFilter.all())).containsExactly(id);
        assertThat(storage().runDesk().attempts(PROJECT, id)).hasSize(1);
    }

    @Test
    void a_cancelled_attempt_ends_its_run_with_the_reason() {
        RunId id = enqueue(Order.mail());
        UUID node = node();

        apply(node, claimOne(node), new Transition.Cancel("ann said so"));

        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.CANCELLED);
        assertThat(run.details().reason()).isEqualTo("ann said so");
        assertThat(storage().runDesk().dead(PROJECT, RunFilter.all())).isEmpty();
    }

    @Test
    void a_group_of_all_kinds_is_answered_in_its_order() {
        enqueue(Order.mail(), 10);
        UUID node = node();
        List<Attempt> claimed = claim(node, 10);
        List<Transition> kinds = transitions().toList();
        List<Ended> group = new ArrayList<>();
        for (int i = 0; i < claimed.size(); i++) group.add(ended(claimed.get(i), kinds.get(i % kinds.size())));
        storage().runs().handBack(node, List.of(claimed.get(3), claimed.get(7)));

        List<Verdict> verdicts = storage().runs().apply(node, group);

        for (int i = 0; i < verdicts.size(); i++)
            assertThat(verdicts.get(i)).isEqualTo(i == 3 || i == 7 ? Verdict.LEASE_LOST : Verdict.ACCEPTED);
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void whoever_is_not_the_owner_changes_nothing_and_is_told(Transition transition) {
        enqueue(Order.mail());
        Attempt attempt = claimOne(node());
        UUID stranger = node();
        refused(stranger, attempt, transition);
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void an_older_attempt_changes_nothing_and_is_told(Transition transition) {
        enqueue(Order.mail());
        UUID node = node();
        Attempt first = claimOne(node);
        storage().runs().handBack(node, List.of(first));
        claimOne(node);

        refused(node, first, transition);
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void an_attempt_that_was_swept_changes_nothing_and_is_told(Transition transition) {
        RunId id = enqueue(Order.mail());
        UUID doomed = node();
        Attempt attempt = claimOne(doomed);
        storage().nodes().declareDead(doomed, 0, "test");
        storage().nodes().sweep(3);
        assertThat(storage().runDesk().attempts(PROJECT, id))
                .extracting(AttemptRecord::outcome)
                .containsExactly("crashed");

        refused(doomed, attempt, transition);
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void an_attempt_that_was_quarantined_changes_nothing_and_is_told(Transition transition) {
        enqueue(Order.mail());
        UUID doomed = node();
        claimOne(doomed);
        diesTwice(doomed);
        UUID next = node();
        Attempt alone = storage()
                .runs()
                .claimSuspect(next, java.util.Set.of(Order.HANDLER))
                .orElseThrow();
        storage().nodes().declareDead(next, 0, "test");
        assertThat(storage().nodes().sweep(1).quarantined()).isEqualTo(1);

        refused(next, alone, transition);
    }

    private void refused(UUID owner, Attempt stale, Transition transition) {
        String before = bench().print();

        assertThat(apply(owner, stale, transition)).isEqualTo(Verdict.LEASE_LOST);
        assertThat(applyIn(owner, ended(stale, transition))).isFalse();
        assertThat(storage().runs().handBack(owner, List.of(stale))).isZero();
        assertThat(storage().runs().handBackRows(owner, List.of(new HeldRun(PROJECT, stale.run(), stale.number()))))
                .isZero();
        storage().runs().parkRunning(owner, List.of(stale));
        storage().runs().passOn(owner, List.of(stale));

        assertThat(bench().print()).isEqualTo(before);
    }

    private boolean applyIn(UUID owner, Ended ended) {
        try (Connection connection = bench().open()) {
            connection.setAutoCommit(false);
            boolean applied = storage().runs().applyIn(connection, owner, ended);
            connection.commit();
            connection.setAutoCommit(true);
            return applied;
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void the_same_ending_in_many_threads_is_written_once_and_accepted_by_all(Transition transition) {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);

        List<Verdict> verdicts = Together.run(8, thread -> apply(node, attempt, transition));

        assertThat(verdicts).containsOnly(Verdict.ACCEPTED);
        assertThat(effects(id)).isEqualTo(1);
    }

    @Test
    void of_all_kinds_of_endings_of_one_attempt_only_one_is_written() {
        for (int round = 0; round < 10; round++) {
            RunId id = enqueue(Order.mail());
            UUID node = node();
            Attempt attempt = claimOne(node);
            List<Transition> kinds = transitions().toList();

            Together.run(kinds.size(), thread -> apply(node, attempt, kinds.get(thread)));

            assertThat(effects(id)).isEqualTo(1);
        }
    }

    /** How many endings of attempts are recorded: lines in history, attempts that did not end the run, and those handed over. */
    private long effects(RunId id) {
        boolean handedOver = "awaiting".equals(get(id).details().parked());
        long ended = get(id).instants().endedAt() == null && !handedOver ? 0 : 1;
        long listed = storage().runDesk().list(PROJECT, RunFilter.all()).stream()
                .filter(run -> run.id().equals(id))
                .count();
        assertThat(listed).isEqualTo(1);
        return ended + storage().runDesk().attempts(PROJECT, id).size();
    }

    @Test
    void an_older_attempt_is_refused_even_next_to_a_newer_one_of_the_same_run() {
        enqueue(Order.mail());
        UUID node = node();
        Attempt first = claimOne(node);
        storage().runs().handBack(node, List.of(first));
        Attempt second = claimOne(node);

        List<Verdict> verdicts =
                storage().runs().apply(node, List.of(ended(first, complete()), ended(second, complete())));

        assertThat(verdicts).containsExactly(Verdict.LEASE_LOST, Verdict.ACCEPTED);
    }

    @Test
    void an_ending_in_the_callers_transaction_is_gone_with_its_rollback() throws SQLException {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        String before = bench().print();

        try (Connection connection = bench().open()) {
            connection.setAutoCommit(false);
            assertThat(storage().runs().applyIn(connection, node, ended(attempt, complete())))
                    .isTrue();
            assertThat(get(id).state()).isEqualTo(RunState.RUNNING);
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(bench().print()).isEqualTo(before);
        assertThat(applyIn(node, ended(attempt, complete()))).isTrue();
        assertThat(get(id).state()).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void what_a_handler_throws_is_cleaned_before_it_enters_a_group() {
        List<RunId> ids = enqueue(Order.mail(), 3);
        UUID node = node();
        List<Attempt> claimed = claim(node, 3);
        RetryRule rule = new RetryRule(Retry.exponential(SECOND), List.of());
        List<Outcome> outcomes = List.of(
                Outcome.failed(new IllegalStateException("nul \0 and half \uD800 of a pair")),
                Outcome.rejected("x".repeat(1_000_000) + "\0"),
                Outcome.succeeded(null));
        List<Ended> group = new ArrayList<>();
        for (int i = 0; i < 3; i++)
            group.add(ended(claimed.get(i), Decider.decide(claimed.get(i), outcomes.get(i), rule, new Random(1))));

        assertThat(storage().runs().apply(node, group)).containsOnly(Verdict.ACCEPTED);

        RunId failed = claimed.get(0).run();
        assertThat(ids).contains(failed);
        assertThat(storage().runDesk().attempts(PROJECT, failed).get(0).error())
                .contains("nul \uFFFD and half \uFFFD of a pair");
        assertThat(get(claimed.get(1).run()).details().reason())
                .hasSize(8 * 1024)
                .startsWith("xxx")
                .endsWith("…");
    }

    @Test
    void a_run_that_was_written_to_since_its_claim_ends_like_its_neighbours() {
        for (int i = 0; i < 3; i++) enqueue(Order.mail());
        UUID node = node();
        List<Attempt> attempts = claim(node, quota(Order.MAIL, Priority.NORMAL, 3));
        storage().runs().parkRunning(node, List.of(attempts.get(1)));

        List<Verdict> verdicts = storage()
                .runs()
                .apply(
                        node,
                        attempts.stream()
                                .map(attempt -> ended(attempt, complete()))
                                .toList());

        assertThat(verdicts).containsOnly(Verdict.ACCEPTED).hasSize(3);
        assertThat(attempts)
                .allSatisfy(attempt -> assertThat(get(attempt.run()).state()).isEqualTo(RunState.SUCCEEDED));
    }
}
