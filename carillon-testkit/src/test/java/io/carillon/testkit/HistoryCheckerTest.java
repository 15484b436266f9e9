package io.carillon.testkit;

import static io.carillon.testkit.HistoryEvent.Kind.CREATED;
import static io.carillon.testkit.HistoryEvent.Kind.ENDED;
import static io.carillon.testkit.HistoryEvent.Kind.LEASED;
import static io.carillon.testkit.HistoryEvent.Kind.RELEASED;
import static io.carillon.testkit.HistoryEvent.Kind.STARTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Retry;
import io.carillon.testkit.History.FailoverTimes;
import io.carillon.testkit.History.FinalState;
import io.carillon.testkit.Violation.Invariant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A valid history passes. Each way to break it is found by the invariant that it breaks, and by no other. */
class HistoryCheckerTest {
    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");
    private static final Retry RETRY = Retry.exponential(Duration.ofSeconds(2)).attempts(3);
    private static final Duration TOLERANCE = Duration.ofSeconds(5);

    private record BrokenHistory(Invariant broken, String how, UnaryOperator<History> change) {
        @Override
        public String toString() {
            return broken + ": " + how;
        }
    }

    private static Instant at(double second) {
        return NOON.plusMillis((long) (second * 1_000));
    }

    private static HistoryEvent event(
            String run, int attempt, String node, HistoryEvent.Kind kind, double second, String detail) {
        return new HistoryEvent(run, attempt, node, kind, at(second), detail);
    }

    private static String again(double second) {
        return "failed " + at(second);
    }

    /**
     * Run a fails once on one node and succeeds on another. Run b follows it, and has the unique key of c after c has
     * ended. Run d loses its node and is rescued. Run e waits for a node with its handler.
     */
    private static final List<HistoryEvent> EVENTS = List.of(
            event("a", 0, "", CREATED, 0, ""),
            event("a", 1, "n1", LEASED, 1, ""),
            event("a", 1, "n1", STARTED, 2, ""),
            event("a", 1, "n1", RELEASED, 3, again(4)),
            event("a", 2, "n2", LEASED, 4, ""),
            event("a", 2, "n2", STARTED, 5, ""),
            event("a", 2, "n2", ENDED, 6, "succeeded"),
            event("b", 0, "", CREATED, 0.5, "default/q/k"),
            event("b", 1, "n1", LEASED, 6, ""),
            event("b", 1, "n1", STARTED, 7, ""),
            event("b", 1, "n1", ENDED, 8, "succeeded"),
            event("c", 0, "", CREATED, 0, "default/q/k"),
            event("c", 0, "", ENDED, 0.4, "cancelled"),
            event("d", 0, "", CREATED, 9, ""),
            event("d", 1, "n1", LEASED, 10, ""),
            event("d", 1, "n1", STARTED, 10, ""),
            event("d", 1, "n1", RELEASED, 14, "crashed"),
            event("d", 2, "n2", LEASED, 15, ""),
            event("d", 2, "n2", STARTED, 15, ""),
            event("d", 2, "n2", ENDED, 16, "dead"),
            event("e", 0, "", CREATED, 9, ""));

    private static final FinalState FINAL_STATE =
            new FinalState(at(30), Map.of("n2", at(29), "n3", at(28)), 2, 1, Set.of("e"));

    private static History validHistory() {
        return History.of(EVENTS)
                .nodeLost("n1", at(11))
                .expectLimit(Set.of("a", "b", "d"), 1)
                .expectOrder(List.of("a", "b"))
                .expectRetries(RETRY, TOLERANCE)
                .expectFailover(new FailoverTimes(Duration.ofSeconds(10), Optional.of(Duration.ofSeconds(5))))
                .finalState(FINAL_STATE);
    }

    private static UnaryOperator<History> events(Consumer<List<HistoryEvent>> change) {
        return history -> {
            List<HistoryEvent> changed = new ArrayList<>(history.events());
            change.accept(changed);
            return new History(changed, history.losses(), history.expectations(), history.finalState());
        };
    }

    private static UnaryOperator<History> without(HistoryEvent... some) {
        assertThat(EVENTS).contains(some);
        return events(all -> all.removeAll(Arrays.asList(some)));
    }

    private static UnaryOperator<History> with(HistoryEvent... more) {
        return events(all -> all.addAll(Arrays.asList(more)));
    }

    private static UnaryOperator<History> instead(HistoryEvent old, HistoryEvent... other) {
        return history -> with(other).apply(without(old).apply(history));
    }

    private static UnaryOperator<History> withFinalState(FinalState seen) {
        return history -> history.finalState(seen);
    }

    static Stream<BrokenHistory> brokenHistories() {
        HistoryEvent lost = event("d", 1, "n1", RELEASED, 14, "crashed");
        HistoryEvent taken = event("d", 2, "n2", LEASED, 15, "");
        HistoryEvent tried = event("a", 2, "n2", LEASED, 4, "");
        HistoryEvent dead = event("d", 2, "n2", ENDED, 16, "dead");
        return Stream.of(
                new BrokenHistory(Invariant.SINGLE_LEASE, "two leases at the same time", without(lost)),
                new BrokenHistory(
                        Invariant.SINGLE_LEASE, "released twice", with(event("a", 1, "n1", RELEASED, 3.5, ""))),
                new BrokenHistory(
                        Invariant.SINGLE_LEASE,
                        "released under an old lease",
                        with(event("a", 1, "n1", RELEASED, 5.5, ""))
                                .andThen(without(event("a", 2, "n2", ENDED, 6, "succeeded")))
                                .andThen(with(event("a", 2, "n2", ENDED, 6, "dead")))::apply),
                new BrokenHistory(
                        Invariant.SINGLE_LEASE,
                        "a skipped attempt number",
                        events(all -> all.replaceAll(one -> one.run().equals("b") && one.attempt() == 1
                                ? new HistoryEvent("b", 2, one.node(), one.kind(), one.at(), one.detail())
                                : one))),
                new BrokenHistory(Invariant.SINGLE_END, "a second end", with(event("d", 2, "n2", ENDED, 17, "dead"))),
                new BrokenHistory(
                        Invariant.SINGLE_END, "leased after the end", with(event("c", 1, "n1", LEASED, 0.45, ""))),
                new BrokenHistory(
                        Invariant.SINGLE_END,
                        "an end under an old lease",
                        instead(dead, event("d", 1, "n1", ENDED, 16, "dead"))),
                new BrokenHistory(
                        Invariant.SINGLE_END,
                        "a success without a lease",
                        instead(
                                event("c", 0, "", ENDED, 0.4, "cancelled"),
                                event("c", 0, "", ENDED, 0.4, "succeeded"))),
                new BrokenHistory(
                        Invariant.START_UNDER_LEASE,
                        "a start on a node without the lease",
                        instead(event("d", 2, "n2", STARTED, 15, ""), event("d", 2, "n3", STARTED, 15, ""))),
                new BrokenHistory(
                        Invariant.START_UNDER_LEASE,
                        "a success without a start",
                        without(event("b", 1, "n1", STARTED, 7, ""))),
                new BrokenHistory(
                        Invariant.NO_DUPLICATE_START,
                        "two starts under one lease",
                        with(event("b", 1, "n1", STARTED, 7.5, ""))),
                new BrokenHistory(
                        Invariant.NO_DUPLICATE_START,
                        "taken from a live node",
                        history ->
                                new History(history.events(), List.of(), history.expectations(), history.finalState())),
                new BrokenHistory(
                        Invariant.NO_DUPLICATE_START,
                        "taken from a node before it was lost",
                        history -> new History(
                                        history.events(), List.of(), history.expectations(), history.finalState())
                                .nodeLost("n1", at(14.5))),
                new BrokenHistory(
                        Invariant.LIMIT, "limit exceeded", history -> history.expectLimit(Set.of("a", "b", "d"), 0)),
                new BrokenHistory(
                        Invariant.LIMIT,
                        "two leases at the same time, above the limit",
                        instead(event("d", 1, "n1", LEASED, 10, ""), event("d", 1, "n1", LEASED, 7.5, ""))
                                        .andThen(instead(
                                                event("d", 0, "", CREATED, 9, ""), event("d", 0, "", CREATED, 7, "")))
                                ::apply),
                new BrokenHistory(
                        Invariant.ORDER,
                        "leased before the previous run ended",
                        history -> history.expectOrder(List.of("d", "b"))),
                new BrokenHistory(
                        Invariant.UNIQUE_KEY,
                        "two active runs with one unique key",
                        instead(
                                event("c", 0, "", ENDED, 0.4, "cancelled"),
                                event("c", 0, "", ENDED, 0.6, "cancelled"))),
                new BrokenHistory(
                        Invariant.RETRY, "tried too early", instead(tried, event("a", 2, "n2", LEASED, 3.9, ""))),
                new BrokenHistory(
                        Invariant.RETRY,
                        "retried too late",
                        history -> history.expectRetries(RETRY, Duration.ofMillis(-1))),
                new BrokenHistory(
                        Invariant.RETRY,
                        "retry delay too long",
                        history -> history.expectRetries(Retry.exponential(Duration.ofMillis(900)), TOLERANCE)),
                new BrokenHistory(
                        Invariant.RETRY,
                        "too many attempts",
                        history -> history.expectRetries(RETRY.attempts(1), TOLERANCE)),
                new BrokenHistory(
                        Invariant.NO_LEASE_OF_LOST_NODE,
                        "held by a dead node forever",
                        without(lost, taken, event("d", 2, "n2", STARTED, 15, ""), dead)),
                new BrokenHistory(Invariant.ALL_ENDED, "never ended", without(dead)),
                new BrokenHistory(
                        Invariant.ALL_ENDED,
                        "waits although not allowed",
                        withFinalState(new FinalState(FINAL_STATE.at(), FINAL_STATE.lastHeartbeats(), 2, 1, Set.of()))),
                new BrokenHistory(
                        Invariant.FAILOVER_IN_TIME,
                        "rescued too late",
                        history -> history.expectFailover(new FailoverTimes(Duration.ofSeconds(3), Optional.empty()))),
                new BrokenHistory(
                        Invariant.FAILOVER_IN_TIME,
                        "no run started for too long",
                        history -> history.expectFailover(
                                new FailoverTimes(Duration.ofSeconds(10), Optional.of(Duration.ofSeconds(3))))),
                new BrokenHistory(
                        Invariant.NODES_HEALTHY,
                        "a node without heartbeats",
                        withFinalState(new FinalState(
                                FINAL_STATE.at(), Map.of("n2", at(29), "n3", at(2)), 2, 1, Set.of("e")))),
                new BrokenHistory(
                        Invariant.NODES_HEALTHY,
                        "a node without notifications",
                        withFinalState(
                                new FinalState(FINAL_STATE.at(), FINAL_STATE.lastHeartbeats(), 1, 1, Set.of("e")))),
                new BrokenHistory(
                        Invariant.NODES_HEALTHY,
                        "leaked sessions",
                        withFinalState(
                                new FinalState(FINAL_STATE.at(), FINAL_STATE.lastHeartbeats(), 2, 3, Set.of("e")))));
    }

    @Test
    void a_valid_history_passes_in_any_event_order() {
        History shuffled =
                events(all -> Collections.shuffle(all, new Random(7))).apply(validHistory());

        assertThat(HistoryChecker.check(shuffled)).isEmpty();
        assertThat(HistoryChecker.maxConcurrent(shuffled, Set.of("a", "b", "d")))
                .isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("brokenHistories")
    void each_broken_history_is_found_by_its_invariant_only(BrokenHistory brokenHistory) {
        List<Violation> violations = HistoryChecker.check(brokenHistory.change().apply(validHistory()));

        assertThat(violations).isNotEmpty().extracting(Violation::invariant).containsOnly(brokenHistory.broken());
    }

    @Test
    void every_invariant_has_a_broken_history() {
        assertThat(brokenHistories().map(BrokenHistory::broken)).contains(Invariant.values());
    }
}
