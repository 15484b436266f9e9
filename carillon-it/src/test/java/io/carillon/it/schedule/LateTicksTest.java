package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.QueueLimits;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.store.run.LaneOutcomes;
import io.carillon.it.fixture.LedgerCoverage;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ticks that could not start in time because no node has their handler or because their queue is held back. */
class LateTicksTest extends PlanningContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final When MINUTELY = When.every(Duration.ofMinutes(1));
    private static final ScheduleSpec SPEC = ScheduleSpec.of(MINUTELY);

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    private long waiting() {
        return FIXTURE.query("SELECT count(*) FROM carillon.run WHERE planned_at <= carillon.clock()")
                .number();
    }

    /** Advances one minute; the node claims each due tick and passes it on, because it does not have the handler. */
    private void minuteWithoutHandler(UUID node) {
        advance(Duration.ofMinutes(1));
        planAll();
        storage().runs().passOn(node, claim(node, 100));
    }

    private void covered() {
        Instant cursor = schedule("report").planningState().cursor();
        assertThat(LedgerCoverage.violations(
                        ledger("report"), List.of(new LedgerCoverage.Span(StoreFixture.NOON, cursor, MINUTELY))))
                .isEmpty();
    }

    @Test
    void ticks_without_a_handler_stay_subject_to_the_missed_policy() {
        store(SPEC);
        UUID withoutHandler = node("other.work");
        for (int minute = 0; minute < 30; minute++) minuteWithoutHandler(withoutHandler);

        assertThat(waiting()).as("ticks within their grace, and one late tick").isEqualTo(6);
        assertThat(lines("report").get(0)).isEqualTo("12:01:00 missed only the latest missed instant runs");
        UUID withHandler = node();
        storage().nodes().wakeParkedRuns(Set.of(RunSpec.HANDLER));
        assertThat(runDue(withHandler))
                .containsExactlyInAnyOrder(at(25 * 60), at(26 * 60), at(27 * 60), at(28 * 60), at(29 * 60), at(1_800));
        covered();
    }

    @Test
    void a_tick_without_a_handler_is_missed_after_the_catch_up_window() {
        store(SPEC.when(When.once(at(60))).policies(SchedulePolicies.defaults().catchUp(Duration.ofHours(1))));
        minuteWithoutHandler(node("other.work"));
        advance(Duration.ofMinutes(10));
        planAll();
        assertThat(lines("report")).containsExactly("12:01:00 waiting no-handler");

        advance(Duration.ofHours(1));
        planAll();

        assertThat(lines("report")).containsExactly("12:01:00 missed older than the catch-up window");
    }

    @Test
    void a_started_tick_whose_handler_disappeared_is_exempt_from_the_missed_policy() {
        store(SPEC.when(When.once(at(60))));
        UUID withHandler = node();
        advance(Duration.ofMinutes(1));
        Attempt started = claimOne(withHandler);
        storage().runs().markLongRunning(withHandler, List.of(started));
        storage().runs().handBack(withHandler, List.of(started));
        UUID withoutHandler = node("other.work");
        storage().runs().passOn(withoutHandler, claim(withoutHandler, 1));
        advance(Duration.ofDays(2));

        planAll();

        assertThat(waiting()).isOne();
    }

    @Test
    void a_tick_handed_back_before_its_start_stays_subject_to_the_missed_policy() {
        store(SPEC.policies(SchedulePolicies.defaults().catchUp(Duration.ofMinutes(20))));
        UUID stopping = node();
        for (int minute = 0; minute < 30; minute++) {
            advance(Duration.ofMinutes(1));
            planAll();
            storage().runs().handBack(stopping, claim(stopping, 100));
        }

        assertThat(waiting()).as("ticks within their grace, and one late tick").isEqualTo(6);
        assertThat(lines("report").get(0)).isEqualTo("12:01:00 missed only the latest missed instant runs");
        advance(Duration.ofHours(1));
        planAll();
        assertThat(lines("report")).contains("12:30:00 missed older than the catch-up window");
        covered();
    }

    @Test
    void a_tick_handed_back_after_its_start_is_exempt_from_the_missed_policy() {
        store(SPEC.when(When.once(at(60))));
        UUID stopping = node();
        advance(Duration.ofMinutes(1));
        Attempt started = claimOne(stopping);
        storage().runs().handBackRows(stopping, storage().runs().ownedRuns(stopping), Set.of(started.run()), true);
        advance(Duration.ofDays(2));

        planAll();

        assertThat(waiting()).isOne();
        assertThat(claimOne(node()).run()).isEqualTo(started.run());
    }

    @Test
    void a_pause_ends_ticks_that_were_handed_back_before_they_started() {
        store(SPEC);
        UUID stopping = node();
        advance(Duration.ofMinutes(1));
        planAll();
        storage().runs().handBack(stopping, claim(stopping, 100));

        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));

        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.run").number()).isZero();
        assertThat(lines("report")).containsExactly("12:01:00 skipped paused");
    }

    @Test
    void a_pause_ends_ticks_that_were_claimed_and_passed_on() {
        store(SPEC);
        UUID withoutHandler = node("other.work");
        for (int minute = 0; minute < 3; minute++) minuteWithoutHandler(withoutHandler);

        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));

        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.run").number()).isZero();
        assertThat(lines("report"))
                .containsExactly("12:01:00 skipped paused", "12:02:00 skipped paused", "12:03:00 skipped paused");
    }

    private void holdQueueBack(String how) {
        switch (how) {
            case "pause" -> storage().lanes().pause(RunSpec.MAIL, "ann", "stocktaking");
            case "limit" -> storage().lanes().limit(RunSpec.MAIL, QueueLimits.maxRunning(1));
            default ->
                FIXTURE.database()
                        .execute(("INSERT INTO carillon.lane (queue, project, breaker, breaker_until)"
                                        + " VALUES ('%s', '%s', '%s', 'infinity')")
                                .formatted(RunSpec.MAIL.queue(), PROJECT, how));
        }
    }

    private void releaseAll() {
        FIXTURE.database().execute("DELETE FROM carillon.lane; DELETE FROM carillon.gate");
    }

    private void releaseQueue(String how) {
        switch (how) {
            case "pause", "open" -> storage().lanes().resume(RunSpec.MAIL);
            case "limit" -> storage().lanes().limit(RunSpec.MAIL, QueueLimits.none());
            default -> storage().lanes().reportOutcomes(node(), List.of(new LaneOutcomes(RunSpec.MAIL, 1, 0, true)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pause", "limit", "open", "half-open"})
    void ticks_of_a_queue_that_was_just_released_are_late_and_not_missed(String how) {
        store(SPEC.missed(MissedPolicy.SKIP));
        holdQueueBack(how);
        advance(Duration.ofMinutes(3));
        planAll();
        advance(Duration.ofMinutes(6));

        releaseQueue(how);
        planAll();

        assertThat(runDue(node())).contains(at(60), at(120), at(180));
        assertThat(lines("report")).noneMatch(line -> line.contains("missed"));
        covered();
    }

    @Test
    void a_pause_after_the_grace_makes_no_tick_late() {
        store(SPEC.missed(MissedPolicy.SKIP));
        advance(Duration.ofMinutes(3));
        planAll();
        advance(Duration.ofMinutes(6));
        holdQueueBack("pause");
        releaseQueue("pause");

        planAll();

        assertThat(lines("report")).contains("12:01:00 missed missed instants are skipped");
        covered();
    }

    @ParameterizedTest
    @ValueSource(strings = {"pause", "limit", "open", "half-open"})
    void ticks_of_a_queue_that_is_held_back_are_late_and_not_missed(String how) {
        store(SPEC.missed(MissedPolicy.SKIP));
        holdQueueBack(how);
        for (int minute = 0; minute < 30; minute++) {
            advance(Duration.ofMinutes(1));
            planAll();
        }
        releaseAll();

        assertThat(runDue(node())).hasSize(30).contains(at(60));
        covered();
    }

    @Test
    void held_back_ticks_run_and_only_the_latest_of_the_ticks_missed_afterwards_runs() {
        store(SPEC);
        storage().lanes().pause(RunSpec.MAIL, "ann", "stocktaking");
        for (int minute = 0; minute < 10; minute++) {
            advance(Duration.ofMinutes(1));
            planAll();
        }
        releaseAll();
        advance(Duration.ofMinutes(10));
        planAll();

        assertThat(runDue(node()))
                .as("the ticks that were held back, and the latest of the ticks that are late since then")
                .hasSize(5 + 1 + 5);
        covered();
    }

    @Test
    void ticks_of_a_queue_that_is_held_back_are_missed_after_the_catch_up_window() {
        store(SPEC.policies(SchedulePolicies.defaults().catchUp(Duration.ofMinutes(20))));
        storage().lanes().pause(RunSpec.MAIL, "ann", "stocktaking");
        for (int minute = 0; minute < 60; minute++) {
            advance(Duration.ofMinutes(1));
            planAll();
        }

        assertThat(waiting()).isEqualTo(20);
        assertThat(lines("report").get(0)).isEqualTo("12:01:00 missed older than the catch-up window");
    }
}
