package io.carillon.it.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.OutcomeDecider;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.AttemptRecord;
import io.carillon.run.Outcome;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
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

/** Endings of attempts: each is written once, and only for the node that holds the run. */
abstract class RunEndingContract extends StoreContract {
    private static final Duration PAUSE = Duration.ofSeconds(90);

    private static final Map<Class<?>, Transition> TRANSITIONS = Map.of(
            Transition.Complete.class, new Transition.Complete(bytes("{\"sent\":1}")),
            Transition.Retry.class, new Transition.Retry(PAUSE, "no route", false),
            Transition.Snooze.class, new Transition.Snooze(PAUSE),
            Transition.AwaitCallback.class, new Transition.AwaitCallback(PAUSE, "digest", PAUSE),
            Transition.MarkDead.class, new Transition.MarkDead("never again"),
            Transition.Cancel.class, new Transition.Cancel("ann said so"));

    /** Returns an example of each transition, and fails for a new kind without an example. */
    static Stream<Transition> transitions() {
        return Stream.of(Transition.class.getPermittedSubclasses()).map(kind -> {
            Transition example = TRANSITIONS.get(kind);
            if (example == null) throw new AssertionError("No example of the transition " + kind);
            return example;
        });
    }

    @Test
    void a_run_that_succeeds_leaves_one_history_row_and_nothing_else() {
        RunId id = enqueue(RunSpec.mail().key("k"));
        UUID node = node();
        Attempt attempt = claimOne(node);
        advance(PAUSE);

        EndedAttempt endedAttempt =
                new EndedAttempt(attempt, TRANSITIONS.get(Transition.Complete.class), SECOND, "said hello");
        assertThat(storage().runs().apply(node, List.of(endedAttempt))).containsExactly(WriteResult.ACCEPTED);

        Run run = get(id);
        Instant now = StoreFixture.NOON.plus(PAUSE);
        assertThat(run.state()).isEqualTo(RunState.SUCCEEDED);
        assertThat(run.instants())
                .isEqualTo(new Run.Instants(
                        StoreFixture.NOON, StoreFixture.NOON, null, null, now.minus(SECOND), now, now.minus(SECOND)));
        assertThat(run.details())
                .isEqualTo(new Run.Details(
                        Run.Policy.none(),
                        null,
                        null,
                        "k",
                        null,
                        null,
                        null,
                        bytes("{\"sent\":1}"),
                        "said hello",
                        null,
                        null));
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(1, 0, 0);
        assertThat(storage().runAdmin().attempts(PROJECT, id)).isEmpty();
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all())).isEmpty();
        assertThat(storage().runs().ownedRuns(node)).isEmpty();
    }

    @Test
    void a_failure_counts_and_the_run_waits_for_its_retry_delay() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();

        apply(node, claimOne(node), new Transition.Retry(PAUSE, "no route", false));
        apply(node, afterPause(node), new Transition.Retry(PAUSE, "timed out after 1 s", true));
        Attempt third = afterPause(node);

        assertThat(third.counts().failures()).isEqualTo(2);
        assertThat(third.number()).isEqualTo(3);
        assertThat(third.times().dueAt()).isEqualTo(StoreFixture.NOON);
        assertThat(storage().runAdmin().attempts(PROJECT, id))
                .containsExactly(
                        record(1, node, StoreFixture.NOON, "failed", "no route"),
                        record(2, node, StoreFixture.NOON.plus(PAUSE), "timed-out", "timed out after 1 s"));
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
    void a_snooze_counts_no_failure() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();

        apply(node, claimOne(node), new Transition.Snooze(PAUSE));
        Attempt second = afterPause(node);

        assertThat(second.number()).isEqualTo(2);
        assertThat(second.counts()).isEqualTo(new Attempt.Counts(0, 0, 0));
        assertThat(storage().runAdmin().attempts(PROJECT, id))
                .containsExactly(record(1, node, StoreFixture.NOON, "snoozed", null));
    }

    @Test
    void a_dead_run_is_in_history_and_among_the_dead_runs() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        apply(node, claimOne(node), new Transition.Retry(Duration.ZERO, "no route", false));

        apply(node, claimOne(node), new Transition.MarkDead("never again"));

        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.DEAD);
        assertThat(run.details().reason()).isEqualTo("never again");
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(2, 2, 0);
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all())).containsExactly(id);
        assertThat(storage().runAdmin().attempts(PROJECT, id)).hasSize(1);
    }

    @Test
    void a_cancelled_attempt_ends_its_run_with_the_reason() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();

        apply(node, claimOne(node), new Transition.Cancel("ann said so"));

        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.CANCELLED);
        assertThat(run.details().reason()).isEqualTo("ann said so");
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all())).isEmpty();
    }

    @Test
    void a_group_of_all_kinds_is_answered_in_its_order() {
        enqueue(RunSpec.mail(), 10);
        UUID node = node();
        List<Attempt> claimed = claim(node, 10);
        List<Transition> kinds = transitions().toList();
        List<EndedAttempt> group = new ArrayList<>();
        for (int i = 0; i < claimed.size(); i++) group.add(ended(claimed.get(i), kinds.get(i % kinds.size())));
        storage().runs().handBack(node, List.of(claimed.get(3), claimed.get(7)));

        List<WriteResult> verdicts = storage().runs().apply(node, group);

        for (int i = 0; i < verdicts.size(); i++)
            assertThat(verdicts.get(i)).isEqualTo(i == 3 || i == 7 ? WriteResult.LEASE_LOST : WriteResult.ACCEPTED);
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void an_ending_by_another_node_changes_nothing_and_is_refused(Transition transition) {
        enqueue(RunSpec.mail());
        Attempt attempt = claimOne(node());
        UUID otherNode = node();
        refused(otherNode, attempt, transition);
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void an_ending_of_an_older_attempt_changes_nothing_and_is_refused(Transition transition) {
        enqueue(RunSpec.mail());
        UUID node = node();
        Attempt first = claimOne(node);
        storage().runs().handBack(node, List.of(first));
        claimOne(node);

        refused(node, first, transition);
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void an_ending_of_a_rescued_attempt_changes_nothing_and_is_refused(Transition transition) {
        RunId id = enqueue(RunSpec.mail());
        UUID doomed = node();
        Attempt attempt = claimOne(doomed);
        storage().nodes().declareDead(doomed, 0, "test");
        storage().nodes().rescue(3);
        assertThat(storage().runAdmin().attempts(PROJECT, id))
                .extracting(AttemptRecord::outcome)
                .containsExactly("crashed");

        refused(doomed, attempt, transition);
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void an_ending_of_a_quarantined_run_changes_nothing_and_is_refused(Transition transition) {
        enqueue(RunSpec.mail());
        UUID doomed = node();
        claimOne(doomed);
        declareDeadTwice(doomed);
        UUID next = node();
        Attempt alone = storage()
                .runs()
                .claimOneIsolated(next, java.util.Set.of(RunSpec.HANDLER))
                .orElseThrow();
        storage().nodes().declareDead(next, 0, "test");
        assertThat(storage().nodes().rescue(1).quarantined()).isEqualTo(1);

        refused(next, alone, transition);
    }

    private void refused(UUID owner, Attempt stale, Transition transition) {
        String before = fixture().dump();

        assertThat(apply(owner, stale, transition)).isEqualTo(WriteResult.LEASE_LOST);
        assertThat(applyIn(owner, ended(stale, transition))).isFalse();
        assertThat(storage().runs().handBack(owner, List.of(stale))).isZero();
        assertThat(storage().runs().handBackRows(owner, List.of(new OwnedRun(PROJECT, stale.run(), stale.number()))))
                .isZero();
        storage().runs().markLongRunning(owner, List.of(stale));
        storage().runs().passOn(owner, List.of(stale));

        assertThat(fixture().dump()).isEqualTo(before);
    }

    private boolean applyIn(UUID owner, EndedAttempt endedAttempt) {
        try (Connection connection = fixture().open()) {
            connection.setAutoCommit(false);
            boolean applied = storage().runs().applyIn(connection, owner, endedAttempt);
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
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);

        List<WriteResult> verdicts = Concurrently.run(8, thread -> apply(node, attempt, transition));

        assertThat(verdicts).containsOnly(WriteResult.ACCEPTED);
        assertThat(effects(id)).isEqualTo(1);
    }

    @Test
    void one_of_all_concurrent_endings_of_an_attempt_is_written() {
        for (int round = 0; round < 10; round++) {
            RunId id = enqueue(RunSpec.mail());
            UUID node = node();
            Attempt attempt = claimOne(node);
            List<Transition> kinds = transitions().toList();

            Concurrently.run(kinds.size(), thread -> apply(node, attempt, kinds.get(thread)));

            assertThat(effects(id)).isEqualTo(1);
        }
    }

    /**
     * Returns the number of recorded endings: rows in history, attempts that did not end the run, and open attempts.
     */
    private long effects(RunId id) {
        boolean handedOver = "awaiting".equals(get(id).details().parked());
        long ended = get(id).instants().endedAt() == null && !handedOver ? 0 : 1;
        long listed = storage().runAdmin().list(PROJECT, RunFilter.all()).stream()
                .filter(run -> run.id().equals(id))
                .count();
        assertThat(listed).isEqualTo(1);
        return ended + storage().runAdmin().attempts(PROJECT, id).size();
    }

    @Test
    void an_older_attempt_is_refused_in_a_group_with_a_newer_one_of_the_same_run() {
        enqueue(RunSpec.mail());
        UUID node = node();
        Attempt first = claimOne(node);
        storage().runs().handBack(node, List.of(first));
        Attempt second = claimOne(node);

        List<WriteResult> verdicts =
                storage().runs().apply(node, List.of(ended(first, complete()), ended(second, complete())));

        assertThat(verdicts).containsExactly(WriteResult.LEASE_LOST, WriteResult.ACCEPTED);
    }

    @Test
    void a_rollback_of_the_callers_transaction_undoes_an_ending() throws SQLException {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);
        String before = fixture().dump();

        try (Connection connection = fixture().open()) {
            connection.setAutoCommit(false);
            assertThat(storage().runs().applyIn(connection, node, ended(attempt, complete())))
                    .isTrue();
            assertThat(get(id).state()).isEqualTo(RunState.RUNNING);
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(fixture().dump()).isEqualTo(before);
        assertThat(applyIn(node, ended(attempt, complete()))).isTrue();
        assertThat(get(id).state()).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void text_of_exceptions_is_cleaned_before_it_enters_a_group() {
        List<RunId> ids = enqueue(RunSpec.mail(), 3);
        UUID node = node();
        List<Attempt> claimed = claim(node, 3);
        RetryRule rule = new RetryRule(Retry.exponential(SECOND), List.of());
        List<Outcome> outcomes = List.of(
                Outcome.failed(new IllegalStateException("nul \0 and half \uD800 of a pair")),
                Outcome.rejected("x".repeat(1_000_000) + "\0"),
                Outcome.succeeded(null));
        List<EndedAttempt> group = new ArrayList<>();
        for (int i = 0; i < 3; i++)
            group.add(
                    ended(claimed.get(i), OutcomeDecider.decide(claimed.get(i), outcomes.get(i), rule, new Random(1))));

        assertThat(storage().runs().apply(node, group)).containsOnly(WriteResult.ACCEPTED);

        RunId failed = claimed.get(0).run();
        assertThat(ids).contains(failed);
        assertThat(storage().runAdmin().attempts(PROJECT, failed).get(0).error())
                .contains("nul \uFFFD and half \uFFFD of a pair");
        assertThat(get(claimed.get(1).run()).details().reason())
                .hasSize(8 * 1024)
                .startsWith("xxx")
                .endsWith("…");
    }

    @Test
    void a_run_that_was_updated_after_its_claim_ends_like_the_others() {
        for (int i = 0; i < 3; i++) enqueue(RunSpec.mail());
        UUID node = node();
        List<Attempt> attempts = claim(node, laneClaim(RunSpec.MAIL, Priority.NORMAL, 3));
        storage().runs().markLongRunning(node, List.of(attempts.get(1)));

        List<WriteResult> verdicts = storage()
                .runs()
                .apply(
                        node,
                        attempts.stream()
                                .map(attempt -> ended(attempt, complete()))
                                .toList());

        assertThat(verdicts).containsOnly(WriteResult.ACCEPTED).hasSize(3);
        assertThat(attempts)
                .allSatisfy(attempt -> assertThat(get(attempt.run()).state()).isEqualTo(RunState.SUCCEEDED));
    }
}
