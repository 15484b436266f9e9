package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Limits;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Policies;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.store.LaneLoad;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ticks that could not start in time for a reason: no node has their handler, or their queue is held back. */
class LateTicksTest extends PlanningContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    private static final When MINUTELY = When.every(Duration.ofMinutes(1));
    private static final Promise PROMISE = Promise.of(MINUTELY);

    @Override
    StoreBench bench() {
        return BENCH;
    }

    private long waiting() {
        return BENCH.rows().number("SELECT count(*) FROM carillon.run WHERE planned_at <= carillon.clock()");
    }

    /** A minute with a node that takes each tick and has no handler for it. */
    private void minuteWithoutHandler(UUID ignorant) {
        advance(Duration.ofMinutes(1));
        planAll();
        storage().runs().passOn(ignorant, claim(ignorant, 100));
    }

    private void covered() {
        Instant cursor = schedule("report").progress().cursor();
        assertThat(Coverage.faults(ledger("report"), List.of(new Coverage.Span(StoreBench.NOON, cursor, MINUTELY))))
                .isEmpty();
    }

    @Test
    void ticks_whose_handler_no_node_has_stay_under_the_missed_policy() {
        store(PROMISE);
        UUID ignorant = node("other.work");
        for (int minute = 0; minute < 30; minute++) minuteWithoutHandler(ignorant);

        assertThat(waiting())
                .as("those within their grace, and one that runs late")
                .isEqualTo(6);
        assertThat(lines("report").get(0)).isEqualTo("12:01:00 missed only the latest missed instant runs");
        UUID knowing = node();
        storage().nodes().wake(Set.of(Order.HANDLER));
        assertThat(runDue(knowing))
                .containsExactlyInAnyOrder(at(25 * 60), at(26 * 60), at(27 * 60), at(28 * 60), at(29 * 60), at(1_800));
        covered();
    }

    @Test
    void a_tick_whose_handler_no_node_has_is_missed_after_the_catch_up_window() {
        store(PROMISE.when(When.once(at(60))).policies(Policies.defaults().catchUp(Duration.ofHours(1))));
        minuteWithoutHandler(node("other.work"));
        advance(Duration.ofMinutes(10));
        planAll();
        assertThat(lines("report")).containsExactly("12:01:00 waiting no-handler");

        advance(Duration.ofHours(1));
        planAll();

        assertThat(lines("report")).containsExactly("12:01:00 missed older than the catch-up window");
    }

    @Test
    void a_tick_that_its_handler_started_is_no_affair_of_the_missed_policy_when_the_handler_is_gone() {
        store(PROMISE.when(When.once(at(60))));
        UUID knowing = node();
        advance(Duration.ofMinutes(1));
        Attempt started = claimOne(knowing);
        storage().runs().parkRunning(knowing, List.of(started));
        storage().runs().handBack(knowing, List.of(started));
        UUID ignorant = node("other.work");
        storage().runs().passOn(ignorant, claim(ignorant, 1));
        advance(Duration.ofDays(2));

        planAll();

        assertThat(waiting()).isOne();
    }

    @Test
    void a_tick_that_was_handed_back_before_it_started_stays_under_the_missed_policy() {
        store(PROMISE.policies(Policies.defaults().catchUp(Duration.ofMinutes(20))));
        UUID stopping = node();
        for (int minute = 0; minute < 30; minute++) {
            advance(Duration.ofMinutes(1));
            planAll();
            storage().runs().handBack(stopping, claim(stopping, 100));
        }

        assertThat(waiting())
                .as("those within their grace, and one that runs late")
                .isEqualTo(6);
        assertThat(lines("report").get(0)).isEqualTo("12:01:00 missed only the latest missed instant runs");
        advance(Duration.ofHours(1));
        planAll();
        assertThat(lines("report")).contains("12:30:00 missed older than the catch-up window");
        covered();
    }

    @Test
    void a_tick_that_was_handed_back_after_it_started_is_no_affair_of_the_missed_policy() {
        store(PROMISE.when(When.once(at(60))));
        UUID stopping = node();
        advance(Duration.ofMinutes(1));
        Attempt started = claimOne(stopping);
        storage().runs().handBackRows(stopping, storage().runs().held(stopping), Set.of(started.run()), true);
        advance(Duration.ofDays(2));

        planAll();

        assertThat(waiting()).isOne();
        assertThat(claimOne(node()).run()).isEqualTo(started.run());
    }

    @Test
    void a_pause_ends_ticks_that_were_handed_back_before_they_started() {
        store(PROMISE);
        UUID stopping = node();
        advance(Duration.ofMinutes(1));
        planAll();
        storage().runs().handBack(stopping, claim(stopping, 100));

        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));

        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.run")).isZero();
        assertThat(lines("report")).containsExactly("12:01:00 skipped paused");
    }

    @Test
    void a_pause_ends_ticks_that_were_claimed_and_passed_on() {
        store(PROMISE);
        UUID ignorant = node("other.work");
        for (int minute = 0; minute < 3; minute++) minuteWithoutHandler(ignorant);

        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));

        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.run")).isZero();
        assertThat(lines("report"))
                .containsExactly("12:01:00 skipped paused", "12:02:00 skipped paused", "12:03:00 skipped paused");
    }

    private void hold(String how) {
        switch (how) {
            case "pause" -> storage().lanes().pause(Order.MAIL, "ann", "stocktaking");
            case "limit" -> storage().lanes().limit(Order.MAIL, Limits.running(1));
            default ->
                BENCH.database()
                        .execute(
                                "INSERT INTO carillon.lane (queue, project, breaker, breaker_until) VALUES ('%s', '%s', '%s', 'infinity')"
                                        .formatted(Order.MAIL.queue(), PROJECT, how));
        }
    }

    private void release() {
        BENCH.database().execute("DELETE FROM carillon.lane; DELETE FROM carillon.gate");
    }

    private void lift(String how) {
        switch (how) {
            case "pause", "open" -> storage().lanes().resume(Order.MAIL);
            case "limit" -> storage().lanes().limit(Order.MAIL, Limits.none());
            default -> storage().lanes().report(node(), List.of(new LaneLoad(Order.MAIL, 1, 0)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pause", "limit", "open", "half-open"})
    void what_a_queue_held_back_until_just_now_is_late_and_not_missed(String how) {
        store(PROMISE.missed(Missed.SKIP));
        hold(how);
        advance(Duration.ofMinutes(3));
        planAll();
        advance(Duration.ofMinutes(6));

        lift(how);
        planAll();

        assertThat(runDue(node())).contains(at(60), at(120), at(180));
        assertThat(lines("report")).noneMatch(line -> line.contains("missed"));
        covered();
    }

    @Test
    void a_pause_after_the_grace_makes_no_tick_late() {
        store(PROMISE.missed(Missed.SKIP));
        advance(Duration.ofMinutes(3));
        planAll();
        advance(Duration.ofMinutes(6));
        hold("pause");
        lift("pause");

        planAll();

        assertThat(lines("report")).contains("12:01:00 missed missed instants are skipped");
        covered();
    }

    @ParameterizedTest
    @ValueSource(strings = {"pause", "limit", "open", "half-open"})
    void what_a_queue_holds_back_is_late_and_not_missed(String how) {
        store(PROMISE.missed(Missed.SKIP));
        hold(how);
        for (int minute = 0; minute < 30; minute++) {
            advance(Duration.ofMinutes(1));
            planAll();
        }
        release();

        assertThat(runDue(node())).hasSize(30).contains(at(60));
        covered();
    }

    @Test
    void what_a_queue_held_back_does_not_make_room_for_later_ticks() {
        store(PROMISE);
        storage().lanes().pause(Order.MAIL, "ann", "stocktaking");
        for (int minute = 0; minute < 10; minute++) {
            advance(Duration.ofMinutes(1));
            planAll();
        }
        release();
        advance(Duration.ofMinutes(10));
        planAll();

        assertThat(runDue(node()))
                .as("those held back, and of those late since then the latest")
                .hasSize(5 + 1 + 5);
        covered();
    }

    @Test
    void what_a_queue_holds_back_is_missed_after_the_catch_up_window() {
        store(PROMISE.policies(Policies.defaults().catchUp(Duration.ofMinutes(20))));
        storage().lanes().pause(Order.MAIL, "ann", "stocktaking");
        for (int minute = 0; minute < 60; minute++) {
            advance(Duration.ofMinutes(1));
            planAll();
        }

        assertThat(waiting()).isEqualTo(20);
        assertThat(lines("report").get(0)).isEqualTo("12:01:00 missed older than the catch-up window");
    }
}
