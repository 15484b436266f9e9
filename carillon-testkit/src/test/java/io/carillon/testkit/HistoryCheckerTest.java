package io.carillon.testkit;

import static io.carillon.testkit.RunEvent.Kind.BORN;
import static io.carillon.testkit.RunEvent.Kind.ENDED;
import static io.carillon.testkit.RunEvent.Kind.LEASED;
import static io.carillon.testkit.RunEvent.Kind.LET_GO;
import static io.carillon.testkit.RunEvent.Kind.STARTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Retry;
import io.carillon.testkit.Complaint.Invariant;
import io.carillon.testkit.History.Quiet;
import io.carillon.testkit.History.TakeOver;
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

/** A good history passes, and every way to spoil it is found by the invariant that it breaks, and by no other. */
class HistoryCheckerTest {
    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");
    private static final Retry RETRY = Retry.exponential(Duration.ofSeconds(2)).attempts(3);
    private static final Duration SLACK = Duration.ofSeconds(5);

    private record Spoiled(Invariant caught, String how, UnaryOperator<History> spoil) {
        @Override
        public String toString() {
            return caught + ": " + how;
        }
    }

    private static Instant at(double second) {
        return NOON.plusMillis((long) (second * 1_000));
    }

    private static RunEvent event(
            String run, int attempt, String node, RunEvent.Kind kind, double second, String detail) {
        return new RunEvent(run, attempt, node, kind, at(second), detail);
    }

    private static String again(double second) {
        return "failed " + at(second);
    }

    /**
     * A fails once on one node and succeeds on another; b follows it and has c's key after c; d loses its node and is rescued; e waits for somebody who knows
     * it.
     */
    private static final List<RunEvent> EVENTS = List.of(
            event("a", 0, "", BORN, 0, ""),
            event("a", 1, "n1", LEASED, 1, ""),
            event("a", 1, "n1", STARTED, 2, ""),
            event("a", 1, "n1", LET_GO, 3, again(4)),
            event("a", 2, "n2", LEASED, 4, ""),
            event("a", 2, "n2", STARTED, 5, ""),
            event("a", 2, "n2", ENDED, 6, "succeeded"),
            event("b", 0, "", BORN, 0.5, "default/q/k"),
            event("b", 1, "n1", LEASED, 6, ""),
            event("b", 1, "n1", STARTED, 7, ""),
            event("b", 1, "n1", ENDED, 8, "succeeded"),
            event("c", 0, "", BORN, 0, "default/q/k"),
            event("c", 0, "", ENDED, 0.4, "cancelled"),
            event("d", 0, "", BORN, 9, ""),
            event("d", 1, "n1", LEASED, 10, ""),
            event("d", 1, "n1", STARTED, 10, ""),
            event("d", 1, "n1", LET_GO, 14, "crashed"),
            event("d", 2, "n2", LEASED, 15, ""),
            event("d", 2, "n2", STARTED, 15, ""),
            event("d", 2, "n2", ENDED, 16, "dead"),
            event("e", 0, "", BORN, 9, ""));

    private static final Quiet QUIET = new Quiet(at(30), Map.of("n2", at(29), "n3", at(28)), 2, 1, Set.of("e"));

    private static History good() {
        return History.of(EVENTS)
                .lost("n1", at(11))
                .limited(Set.of("a", "b", "d"), 1)
                .ordered(List.of("a", "b"))
                .retried(RETRY, SLACK)
                .takenOver(new TakeOver(Duration.ofSeconds(10), Optional.of(Duration.ofSeconds(5))))
                .quiet(QUIET);
    }

    private static UnaryOperator<History> events(Consumer<List<RunEvent>> change) {
        return history -> {
            List<RunEvent> changed = new ArrayList<>(history.events());
            change.accept(changed);
            return new History(changed, history.losses(), history.promises(), history.quiet());
        };
    }

    private static UnaryOperator<History> without(RunEvent... some) {
        assertThat(EVENTS).contains(some);
        return events(all -> all.removeAll(Arrays.asList(some)));
    }

    private static UnaryOperator<History> with(RunEvent... more) {
        return events(all -> all.addAll(Arrays.asList(more)));
    }

    private static UnaryOperator<History> instead(RunEvent old, RunEvent... other) {
        return history -> with(other).apply(without(old).apply(history));
    }

    private static UnaryOperator<History> quiet(Quiet seen) {
        return history -> history.quiet(seen);
    }

    static Stream<Spoiled> spoiled() {
        RunEvent lost = event("d", 1, "n1", LET_GO, 14, "crashed");
        RunEvent taken = event("d", 2, "n2", LEASED, 15, "");
        RunEvent tried = event("a", 2, "n2", LEASED, 4, "");
        RunEvent dead = event("d", 2, "n2", ENDED, 16, "dead");
        return Stream.of(
                new Spoiled(Invariant.ONE_LEASE, "two leases at once", without(lost)),
                new Spoiled(Invariant.ONE_LEASE, "let go twice", with(event("a", 1, "n1", LET_GO, 3.5, ""))),
                new Spoiled(
                        Invariant.ONE_LEASE,
                        "let go by an old lease",
                        with(event("a", 1, "n1", LET_GO, 5.5, ""))
                                .andThen(without(event("a", 2, "n2", ENDED, 6, "succeeded")))
                                .andThen(with(event("a", 2, "n2", ENDED, 6, "dead")))::apply),
                new Spoiled(
                        Invariant.ONE_LEASE,
                        "a number left out",
                        events(all -> all.replaceAll(one -> one.run().equals("b") && one.attempt() == 1
                                ? new RunEvent("b", 2, one.node(), one.kind(), one.at(), one.detail())
                                : one))),
                new Spoiled(Invariant.ONE_END, "a second end", with(event("d", 2, "n2", ENDED, 17, "dead"))),
                new Spoiled(Invariant.ONE_END, "life after the end", with(event("c", 1, "n1", LEASED, 0.45, ""))),
                new Spoiled(
                        Invariant.ONE_END,
                        "an end by an old lease",
                        instead(dead, event("d", 1, "n1", ENDED, 16, "dead"))),
                new Spoiled(
                        Invariant.ONE_END,
                        "a success of nobody",
                        instead(
                                event("c", 0, "", ENDED, 0.4, "cancelled"),
                                event("c", 0, "", ENDED, 0.4, "succeeded"))),
                new Spoiled(
                        Invariant.STARTS_LEASED,
                        "a start on a node without the lease",
                        instead(event("d", 2, "n2", STARTED, 15, ""), event("d", 2, "n3", STARTED, 15, ""))),
                new Spoiled(
                        Invariant.STARTS_LEASED,
                        "a success without a start",
                        without(event("b", 1, "n1", STARTED, 7, ""))),
                new Spoiled(
                        Invariant.NO_NEEDLESS_START,
                        "two starts under one lease",
                        with(event("b", 1, "n1", STARTED, 7.5, ""))),
                new Spoiled(
                        Invariant.NO_NEEDLESS_START,
                        "taken from a node that lives",
                        history -> new History(history.events(), List.of(), history.promises(), history.quiet())),
                new Spoiled(
                        Invariant.NO_NEEDLESS_START,
                        "taken from a node that was lost only later",
                        history -> new History(history.events(), List.of(), history.promises(), history.quiet())
                                .lost("n1", at(14.5))),
                new Spoiled(Invariant.LIMIT, "a limit passed", history -> history.limited(Set.of("a", "b", "d"), 0)),
                new Spoiled(
                        Invariant.LIMIT,
                        "two at a time",
                        instead(event("d", 1, "n1", LEASED, 10, ""), event("d", 1, "n1", LEASED, 7.5, ""))
                                        .andThen(
                                                instead(event("d", 0, "", BORN, 9, ""), event("d", 0, "", BORN, 7, "")))
                                ::apply),
                new Spoiled(Invariant.ORDER, "one overtook another", history -> history.ordered(List.of("d", "b"))),
                new Spoiled(
                        Invariant.UNIQUE_KEY,
                        "two living runs with one key",
                        instead(
                                event("c", 0, "", ENDED, 0.4, "cancelled"),
                                event("c", 0, "", ENDED, 0.6, "cancelled"))),
                new Spoiled(Invariant.RETRY, "tried too early", instead(tried, event("a", 2, "n2", LEASED, 3.9, ""))),
                new Spoiled(
                        Invariant.RETRY, "tried too late", history -> history.retried(RETRY, Duration.ofMillis(-1))),
                new Spoiled(
                        Invariant.RETRY,
                        "too long a pause",
                        history -> history.retried(Retry.exponential(Duration.ofMillis(900)), SLACK)),
                new Spoiled(Invariant.RETRY, "too many attempts", history -> history.retried(RETRY.attempts(1), SLACK)),
                new Spoiled(
                        Invariant.NO_DEAD_HOLDER,
                        "held by a dead node for ever",
                        without(lost, taken, event("d", 2, "n2", STARTED, 15, ""), dead)),
                new Spoiled(Invariant.ALL_ENDED, "never ended", without(dead)),
                new Spoiled(
                        Invariant.ALL_ENDED,
                        "waits without leave",
                        quiet(new Quiet(QUIET.at(), QUIET.beats(), 2, 1, Set.of()))),
                new Spoiled(
                        Invariant.TAKEN_OVER,
                        "rescued too late",
                        history -> history.takenOver(new TakeOver(Duration.ofSeconds(3), Optional.empty()))),
                new Spoiled(
                        Invariant.TAKEN_OVER,
                        "nothing fired for too long",
                        history -> history.takenOver(
                                new TakeOver(Duration.ofSeconds(10), Optional.of(Duration.ofSeconds(3))))),
                new Spoiled(
                        Invariant.NODES_WELL,
                        "a node that does not beat",
                        quiet(new Quiet(QUIET.at(), Map.of("n2", at(29), "n3", at(2)), 2, 1, Set.of("e")))),
                new Spoiled(
                        Invariant.NODES_WELL,
                        "a node that does not listen",
                        quiet(new Quiet(QUIET.at(), QUIET.beats(), 1, 1, Set.of("e")))),
                new Spoiled(
                        Invariant.NODES_WELL,
                        "sessions left behind",
                        quiet(new Quiet(QUIET.at(), QUIET.beats(), 2, 3, Set.of("e")))));
    }

    @Test
    void a_good_history_passes_in_whatever_order_it_is_told() {
        History shuffled =
                events(all -> Collections.shuffle(all, new Random(7))).apply(good());

        assertThat(HistoryChecker.judge(shuffled)).isEmpty();
        assertThat(HistoryChecker.mostAtOnce(shuffled, Set.of("a", "b", "d"))).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("spoiled")
    void what_is_spoiled_is_found_by_the_invariant_it_breaks_and_by_no_other(Spoiled spoiled) {
        List<Complaint> complaints = HistoryChecker.judge(spoiled.spoil().apply(good()));

        assertThat(complaints).isNotEmpty().extracting(Complaint::invariant).containsOnly(spoiled.caught());
    }

    @Test
    void there_is_a_spoiled_history_for_every_invariant() {
        assertThat(spoiled().map(Spoiled::caught)).contains(Invariant.values());
    }
}
