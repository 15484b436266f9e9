package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.store.Ended;
import io.carillon.store.Verdict;
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

/** A fenced write that waits for another transaction's write to the same row takes effect if its fence still holds after the wait. */
class EndingRaceTest extends StoreContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    private static final String PARK = "UPDATE carillon.run SET ready_at = 'infinity', parked = 'running'";
    private static final String COUNT_IN = "UPDATE carillon.run SET limited_by = queue";

    @Override
    StoreBench bench() {
        return BENCH;
    }

    /** Each ending that is fenced by key, and what is true once it took effect. */
    @SuppressWarnings("ImmutableEnumChecker") // transitions are records
    enum Ending {
        SUCCEED(new Transition.Complete(bytes("\"sent\"")), RunState.SUCCEEDED, 0),
        SUCCEED_IN_PLACE(new Transition.Complete(null), RunState.SUCCEEDED, 0),
        RETRY(new Transition.Retry(SECOND, "oops", false), RunState.WAITING, 1),
        SNOOZE(new Transition.Snooze(SECOND), RunState.WAITING, 0),
        DIE(new Transition.Die("no"), RunState.DEAD, 1),
        CANCEL(new Transition.Cancel("enough"), RunState.CANCELLED, 0),
        AWAIT(new Transition.Await(Duration.ofMinutes(1), "digest", SECOND), RunState.RUNNING, 0);

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
        List<RunId> runs = enqueue(Order.mail(), 3);
        List<Attempt> attempts = claim(node, 3);

        List<Verdict> verdicts = during(
                between + " WHERE id = '" + runs.get(1).value() + "'",
                () -> storage()
                        .runs()
                        .apply(
                                node,
                                attempts.stream()
                                        .map(attempt -> ended(attempt, ending.transition))
                                        .toList()));

        assertThat(verdicts).containsOnly(Verdict.ACCEPTED).hasSize(3);
        for (RunId run : runs)
            assertThat(get(run)).returns(ending.state, Run::state).returns(ending.failures, Run::failures);
        boolean again = ending == Ending.RETRY || ending == Ending.SNOOZE;
        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.attempt")).isEqualTo(again ? 3 : 0);
        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.awaited"))
                .isEqualTo(ending == Ending.AWAIT ? 3 : 0);
    }

    @ParameterizedTest(name = "{0} while: {1}")
    @MethodSource("endings")
    void an_ending_in_a_callers_transaction_that_waited_takes_effect(Ending ending, String label, String between)
            throws Exception {
        UUID node = node();
        RunId run = enqueue(Order.mail());
        Attempt attempt = claimOne(node);

        boolean written = during(between, () -> {
            try (Connection connection = BENCH.open()) {
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
        RunId run = enqueue(Order.mail());
        Attempt attempt = claimOne(node);

        List<Verdict> verdicts = during(
                "UPDATE carillon.run SET attempt = attempt + 1",
                () -> storage().runs().apply(node, List.of(ended(attempt, ending.transition))));

        assertThat(verdicts).containsExactly(Verdict.LEASE_LOST);
        assertThat(get(run).state()).isEqualTo(RunState.RUNNING);
        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.attempt")).isZero();
        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.awaited")).isZero();
        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.dead_run"))
                .isZero();
    }

    @ParameterizedTest
    @EnumSource
    void endings_are_written_without_those_that_stay_locked(Ending ending) throws Exception {
        UUID node = node();
        List<RunId> runs = enqueue(Order.mail(), 33);
        List<Ended> group = claim(node, 33).stream()
                .map(attempt -> ended(attempt, ending.transition))
                .toList();
        RunId kept = group.get(20).attempt().run();
        try (Connection other = BENCH.open();
                var statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE id = '" + kept.value() + "' FOR UPDATE");
            // Only the first kind waits here for real; the others are tried as what was locked is tried again.
            List<Verdict> verdicts = ending == Ending.SUCCEED
                    ? storage().runs().apply(node, group)
                    : storage().runs().applyUnlocked(node, group);

            assertThat(IntStream.range(0, 33).filter(i -> verdicts.get(i) != Verdict.ACCEPTED))
                    .containsExactly(20);
            assertThat(verdicts.get(20)).isEqualTo(Verdict.LOCKED);
            other.rollback();
            other.setAutoCommit(true);
        }
        assertThat(storage().runs().applyUnlocked(node, List.of(group.get(20)))).containsExactly(Verdict.ACCEPTED);
        for (RunId run : runs) assertThat(get(run).state()).isEqualTo(ending.state);
    }

    @Test
    void an_ending_alone_that_stays_locked_is_said_to_be_and_loses_nothing() throws Exception {
        UUID node = node();
        RunId run = enqueue(Order.mail());
        Ended ended = ended(claimOne(node), complete());
        try (Connection other = BENCH.open();
                var statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run FOR UPDATE");
            assertThat(storage().runs().apply(node, List.of(ended))).containsExactly(Verdict.LOCKED);
            other.rollback();
            other.setAutoCommit(true);
        }
        assertThat(storage().runs().apply(node, List.of(ended))).containsExactly(Verdict.ACCEPTED);
        assertThat(get(run).state()).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void runs_that_are_let_go_or_parked_after_a_wait_are_so() throws Exception {
        UUID node = node();
        RunId run = enqueue(Order.mail());
        Attempt first = claimOne(node);
        assertThat(during(COUNT_IN, () -> storage().runs().handBack(node, List.of(first))))
                .isEqualTo(1);
        assertThat(get(run).state()).isEqualTo(RunState.WAITING);

        Attempt second = claimOne(node);
        assertThat(during(COUNT_IN, () -> storage().runs().passOn(node, List.of(second))))
                .isEqualTo(Set.of(Order.HANDLER));
        assertThat(get(run).state()).isEqualTo(RunState.WAITING);
    }

    @Test
    void a_waiting_run_that_changed_meanwhile_is_cancelled_and_rescheduled() throws Exception {
        RunId run = enqueue(Order.mail());
        String touch = "UPDATE carillon.run SET suspect = suspect";
        java.time.Instant due = StoreBench.NOON.plus(Duration.ofHours(1));

        assertThat(during(touch, () -> storage().runDesk().reschedule(PROJECT, run, due)))
                .isTrue();
        assertThat(get(run).instants().dueAt()).isEqualTo(due);
        assertThat(during(touch, () -> storage().runDesk().cancel(PROJECT, run, "enough")))
                .isEqualTo(new io.carillon.run.Cancellation.Cancelled());
        assertThat(get(run).state()).isEqualTo(RunState.CANCELLED);
    }

    /** Does a deed that provably waits for this write, which is then committed. */
    private static <T> T during(String write, Callable<T> deed) throws Exception {
        try (Connection other = BENCH.open();
                var statement = other.createStatement()) {
            other.setAutoCommit(false);
            assertThat(statement.executeUpdate(write)).isEqualTo(1);
            CompletableFuture<T> answer = CompletableFuture.supplyAsync(() -> {
                try {
                    return deed.call();
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
            if (BENCH.rows()
                            .number(
                                    "SELECT count(*) FROM pg_stat_activity WHERE ? = ANY (pg_blocking_pids(pid))",
                                    holder)
                    > 0) return;
            assertThat(answer).as("it waits for the other transaction").isNotDone();
        }
        throw new AssertionError("nothing waited for the other transaction");
    }
}
