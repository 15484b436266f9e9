package io.carillon.it.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A fenced write that waits for another transaction on the same row takes effect if its fence still holds
 * after the wait.
 */
class EndingRaceTest extends StoreContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final String PARK = "UPDATE carillon.run SET ready_at = 'infinity', parked = 'running'";
    private static final String COUNT_IN = "UPDATE carillon.run SET limited_by = queue";

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    /** An ending that is fenced by key, with the state of the run and its number of failures after the ending. */
    @SuppressWarnings("ImmutableEnumChecker") // transitions are records
    enum Ending {
        SUCCEED(new Transition.Complete(bytes("\"sent\"")), RunState.SUCCEEDED, 0),
        SUCCEED_IN_PLACE(new Transition.Complete(null), RunState.SUCCEEDED, 0),
        RETRY(new Transition.Retry(SECOND, "oops", false), RunState.WAITING, 1),
        SNOOZE(new Transition.Snooze(SECOND), RunState.WAITING, 0),
        DIE(new Transition.MarkDead("no"), RunState.DEAD, 1),
        CANCEL(new Transition.Cancel("enough"), RunState.CANCELLED, 0),
        AWAIT(new Transition.AwaitCallback(Duration.ofMinutes(1), "digest", SECOND), RunState.RUNNING, 0);

        private final Transition transition;
        private final RunState state;
        private final int failures;

        Ending(Transition transition, RunState state, int failures) {
            this.transition = transition;
            this.state = state;
            this.failures = failures;
        }
    }

    static Stream<Arguments> endings() {
        return Stream.of(Ending.values())
                .flatMap(ending -> Stream.of(PARK, COUNT_IN)
                        .map(between -> Arguments.of(ending, between.replaceAll("'.*", ""), between)));
    }

    @ParameterizedTest(name = "{0} while: {1}")
    @MethodSource("endings")
    void an_ending_that_waited_is_accepted_with_its_effect(Ending ending, String label, String between)
            throws Exception {
        UUID node = node();
        List<RunId> runs = enqueue(RunSpec.mail(), 3);
        List<Attempt> attempts = claim(node, 3);

        List<WriteResult> verdicts = runDuring(
                between + " WHERE id = '" + runs.get(1).value() + "'",
                () -> storage()
                        .runs()
                        .apply(
                                node,
                                attempts.stream()
                                        .map(attempt -> ended(attempt, ending.transition))
                                        .toList()));

        assertThat(verdicts).containsOnly(WriteResult.ACCEPTED).hasSize(3);
        for (RunId run : runs)
            assertThat(get(run)).returns(ending.state, Run::state).returns(ending.failures, Run::failures);
        boolean again = ending == Ending.RETRY || ending == Ending.SNOOZE;
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.attempt").number())
                .isEqualTo(again ? 3 : 0);
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.open_attempt").number())
                .isEqualTo(ending == Ending.AWAIT ? 3 : 0);
    }

    @ParameterizedTest(name = "{0} while: {1}")
    @MethodSource("endings")
    void an_ending_in_a_callers_transaction_that_waited_takes_effect(Ending ending, String label, String between)
            throws Exception {
        UUID node = node();
        RunId run = enqueue(RunSpec.mail());
        Attempt attempt = claimOne(node);

        boolean written = runDuring(between, () -> {
            try (Connection connection = FIXTURE.open()) {
                connection.setAutoCommit(false);
                boolean ours = storage().runs().applyIn(connection, node, ended(attempt, ending.transition));
                connection.commit();
                connection.setAutoCommit(true);
                return ours;
            }
        });

        assertThat(written).isTrue();
        assertThat(get(run)).returns(ending.state, Run::state).returns(ending.failures, Run::failures);
    }

    @ParameterizedTest
    @EnumSource
    void an_ending_whose_fence_was_lost_during_the_wait_is_refused_and_writes_nothing(Ending ending) throws Exception {
        UUID node = node();
        RunId run = enqueue(RunSpec.mail());
        Attempt attempt = claimOne(node);

        List<WriteResult> verdicts = runDuring(
                "UPDATE carillon.run SET attempt = attempt + 1",
                () -> storage().runs().apply(node, List.of(ended(attempt, ending.transition))));

        assertThat(verdicts).containsExactly(WriteResult.LEASE_LOST);
        assertThat(get(run).state()).isEqualTo(RunState.RUNNING);
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.attempt").number())
                .isZero();
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.open_attempt").number())
                .isZero();
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.dead_run").number())
                .isZero();
    }

    @ParameterizedTest
    @EnumSource
    void endings_of_unlocked_runs_are_written_while_one_run_stays_locked(Ending ending) throws Exception {
        UUID node = node();
        List<RunId> runs = enqueue(RunSpec.mail(), 33);
        List<EndedAttempt> group = claim(node, 33).stream()
                .map(attempt -> ended(attempt, ending.transition))
                .toList();
        RunId kept = group.get(20).attempt().run();
        try (Connection other = FIXTURE.open();
                var statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE id = '" + kept.value() + "' FOR UPDATE");
            // Only SUCCEED waits for the lock here; the others take the path on which locked endings are retried.
            List<WriteResult> verdicts = ending == Ending.SUCCEED
                    ? storage().runs().apply(node, group)
                    : storage().runs().applyUnlocked(node, group);

            assertThat(IntStream.range(0, 33).filter(i -> verdicts.get(i) != WriteResult.ACCEPTED))
                    .containsExactly(20);
            assertThat(verdicts.get(20)).isEqualTo(WriteResult.LOCKED);
            other.rollback();
            other.setAutoCommit(true);
        }
        assertThat(storage().runs().applyUnlocked(node, List.of(group.get(20)))).containsExactly(WriteResult.ACCEPTED);
        for (RunId run : runs) assertThat(get(run).state()).isEqualTo(ending.state);
    }

    @Test
    void a_single_ending_that_stays_locked_is_reported_and_not_lost() throws Exception {
        UUID node = node();
        RunId run = enqueue(RunSpec.mail());
        EndedAttempt endedAttempt = ended(claimOne(node), complete());
        try (Connection other = FIXTURE.open();
                var statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run FOR UPDATE");
            assertThat(storage().runs().apply(node, List.of(endedAttempt))).containsExactly(WriteResult.LOCKED);
            other.rollback();
            other.setAutoCommit(true);
        }
        assertThat(storage().runs().apply(node, List.of(endedAttempt))).containsExactly(WriteResult.ACCEPTED);
        assertThat(get(run).state()).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void handing_back_and_passing_on_take_effect_after_a_wait() throws Exception {
        UUID node = node();
        RunId run = enqueue(RunSpec.mail());
        Attempt first = claimOne(node);
        assertThat(runDuring(COUNT_IN, () -> storage().runs().handBack(node, List.of(first))))
                .isEqualTo(1);
        assertThat(get(run).state()).isEqualTo(RunState.WAITING);

        Attempt second = claimOne(node);
        assertThat(runDuring(COUNT_IN, () -> storage().runs().passOn(node, List.of(second))))
                .isEqualTo(Set.of(RunSpec.HANDLER));
        assertThat(get(run).state()).isEqualTo(RunState.WAITING);
    }

    @Test
    void cancelling_and_rescheduling_take_effect_after_a_concurrent_change() throws Exception {
        RunId run = enqueue(RunSpec.mail());
        String touch = "UPDATE carillon.run SET node_deaths = node_deaths";
        java.time.Instant due = StoreFixture.NOON.plus(Duration.ofHours(1));

        assertThat(runDuring(touch, () -> storage().runAdmin().reschedule(PROJECT, run, due)))
                .isTrue();
        assertThat(get(run).instants().dueAt()).isEqualTo(due);
        assertThat(runDuring(touch, () -> storage().runAdmin().cancel(PROJECT, run, "enough")))
                .isEqualTo(new io.carillon.run.CancelResult.Cancelled());
        assertThat(get(run).state()).isEqualTo(RunState.CANCELLED);
    }

    /** Runs a call that must wait for the given write, commits the write, and returns the result of the call. */
    private static <T> T runDuring(String write, Callable<T> call) throws Exception {
        try (Connection other = FIXTURE.open();
                var statement = other.createStatement()) {
            other.setAutoCommit(false);
            assertThat(statement.executeUpdate(write)).isEqualTo(1);
            CompletableFuture<T> answer = CompletableFuture.supplyAsync(() -> {
                try {
                    return call.call();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            try {
                awaitWaiter(other.unwrap(org.postgresql.PGConnection.class).getBackendPID(), answer);
            } finally {
                other.commit();
                other.setAutoCommit(true);
            }
            return answer.get(20, TimeUnit.SECONDS);
        }
    }

    private static void awaitWaiter(int holder, CompletableFuture<?> answer) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (System.nanoTime() < deadline) {
            if (FIXTURE.query("SELECT count(*) FROM pg_stat_activity WHERE ? = ANY (pg_blocking_pids(pid))", holder)
                            .number()
                    > 0) return;
            assertThat(answer).as("the call waits for the other transaction").isNotDone();
        }
        throw new AssertionError("No session waited for the other transaction.");
    }
}
