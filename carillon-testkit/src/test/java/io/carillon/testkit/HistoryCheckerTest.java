package io.carillon.testkit;

import static io.carillon.testkit.RunEvent.Kind.ENDED;
import static io.carillon.testkit.RunEvent.Kind.LEASED;
import static io.carillon.testkit.RunEvent.Kind.LET_GO;
import static io.carillon.testkit.RunEvent.Kind.STARTED;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** A good history passes, and every way to spoil it is found. */
class HistoryCheckerTest {
    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");

    private static RunEvent event(String run, int attempt, String node, RunEvent.Kind kind, int second) {
        return new RunEvent(run, attempt, node, kind, NOON.plusSeconds(second), kind == ENDED ? "succeeded" : "");
    }

    /** The first fails once on one node and succeeds on another; the second follows it. */
    private static List<RunEvent> good() {
        return List.of(
                event("a", 1, "n1", LEASED, 1),
                event("a", 1, "n1", STARTED, 2),
                event("a", 1, "n1", LET_GO, 3),
                event("a", 2, "n2", LEASED, 4),
                event("a", 2, "n2", STARTED, 5),
                event("a", 2, "n2", ENDED, 6),
                event("b", 1, "n1", LEASED, 6),
                event("b", 1, "n1", STARTED, 7),
                event("b", 1, "n1", ENDED, 8));
    }

    private static List<String> spoiled(UnaryOperator<List<RunEvent>> how) {
        return new HistoryChecker(how.apply(new ArrayList<>(good()))).complaints();
    }

    private static UnaryOperator<List<RunEvent>> with(RunEvent event) {
        return events -> {
            events.add(event);
            return events;
        };
    }

    private static UnaryOperator<List<RunEvent>> without(int number) {
        return events -> {
            events.remove(number);
            return events;
        };
    }

    @Test
    void a_good_history_passes_in_whatever_order_it_is_told() {
        List<RunEvent> shuffled = new ArrayList<>(good());
        Collections.shuffle(shuffled, new Random(7));
        HistoryChecker checker = new HistoryChecker(shuffled);

        assertThat(checker.complaints()).isEmpty();
        assertThat(checker.unended()).isEmpty();
        assertThat(checker.outOfOrder(List.of("a", "b"))).isEmpty();
        assertThat(checker.mostAtOnce(Set.of("a", "b"))).isEqualTo(1);
    }

    @Test
    void two_leases_at_once_are_found() {
        assertThat(spoiled(without(2))).singleElement().asString().contains("leased while n1 held it");
    }

    @Test
    void a_number_used_twice_is_found() {
        assertThat(spoiled(events -> {
                    events.set(3, event("a", 1, "n2", LEASED, 4));
                    events.set(4, event("a", 1, "n2", STARTED, 5));
                    events.set(5, event("a", 1, "n2", ENDED, 6));
                    return events;
                }))
                .anyMatch(wrong -> wrong.contains("a number that had been used"));
    }

    @Test
    void a_second_end_and_life_after_the_end_are_found() {
        assertThat(spoiled(with(event("b", 1, "n1", ENDED, 9)))).anyMatch(wrong -> wrong.contains("ended twice"));
        assertThat(spoiled(with(event("b", 2, "n1", LEASED, 9))))
                .singleElement()
                .asString()
                .contains("after it had ended");
    }

    @Test
    void an_end_by_an_old_lease_is_found() {
        assertThat(spoiled(events -> {
                    events.set(5, event("a", 1, "n1", ENDED, 6));
                    return events;
                }))
                .singleElement()
                .asString()
                .contains("ended by an old lease");
    }

    @Test
    void a_success_of_nobody_is_found() {
        assertThat(spoiled(events -> {
                    events.subList(6, 8).clear();
                    return events;
                }))
                .singleElement()
                .asString()
                .contains("succeeded although nobody held it");
    }

    @Test
    void a_start_without_a_lease_of_its_own_and_a_second_start_are_found() {
        assertThat(spoiled(events -> {
                    events.set(4, event("a", 2, "n3", STARTED, 5));
                    return events;
                }))
                .singleElement()
                .asString()
                .contains("without a lease of its own");
        assertThat(spoiled(with(event("b", 1, "n1", STARTED, 7))))
                .singleElement()
                .asString()
                .contains("started twice");
    }

    @Test
    void what_was_let_go_twice_is_found() {
        assertThat(spoiled(with(event("a", 1, "n1", LET_GO, 3))))
                .singleElement()
                .asString()
                .contains("nobody held it");
    }

    @Test
    void who_overtakes_and_who_never_ends_is_found_and_a_crowd_is_counted() {
        List<RunEvent> events = new ArrayList<>(good());
        events.remove(5);
        HistoryChecker checker = new HistoryChecker(events);

        assertThat(checker.unended()).containsExactly("a has not ended");
        assertThat(checker.outOfOrder(List.of("a", "b"))).containsExactly("b overtook a");
        assertThat(checker.mostAtOnce(Set.of("a", "b"))).isEqualTo(2);
    }
}
