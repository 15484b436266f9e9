package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import io.carillon.internal.run.Attempt;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.LedgerCoverage;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Origin;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.When;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Schedules: create, edit, pause, resume, delete and trigger, and the effect on existing ticks. */
abstract class ScheduleContract extends PlanningContract {
    private static final ScheduleSpec MINUTELY = ScheduleSpec.every(Duration.ofMinutes(1));
    private static final ScheduleSpec TEN_SECONDS = ScheduleSpec.every(Duration.ofSeconds(10));

    private boolean pause(String name) {
        return storage().schedules().pause(PROJECT, name, new Schedule.Pause(Instant.EPOCH, "ann", "why", null));
    }

    private boolean resume(String name) {
        return storage().schedules().resume(PROJECT, name);
    }

    private boolean delete(String name) {
        return storage().schedules().delete(PROJECT, name);
    }

    @Test
    void a_new_schedule_has_its_first_ticks_immediately() {
        ScheduleChange change = upsert(MINUTELY);

        assertThat(change).isInstanceOf(ScheduleChange.Created.class);
        assertThat(lines("report")).containsExactly("12:01:00 waiting", "12:02:00 waiting");
        assertThat(schedule("report")).isEqualTo(change.schedule());
        assertThat(schedule("report").planningState()).isEqualTo(new Schedule.PlanningState(at(120), at(180), 2));
        assertThat(storage().schedules().list(PROJECT)).containsExactly(change.schedule());
    }

    @Test
    void a_stored_definition_is_read_back_unchanged() {
        for (When when : List.of(
                When.cron("30 2 * * MON-FRI", "Europe/Paris").jitter(Duration.ofSeconds(30)),
                When.cron("*/10 * * * * *", ZoneId.of("America/New_York"))
                        .from(at(3))
                        .until(at(999))
                        .except(LocalDate.parse("2026-12-25"), LocalDate.parse("2026-12-26"))
                        .maxRuns(12),
                When.every(Duration.ofSeconds(7)),
                When.every(
                        2, java.time.temporal.ChronoUnit.MONTHS, StoreFixture.NOON.atZone(ZoneId.of("Asia/Kolkata"))),
                When.once(at(77)))) {
            ScheduleSpec spec = TEN_SECONDS.when(when);

            upsert(spec);

            assertThat(schedule("report").definition()).isEqualTo(spec.definition());
            String before = fixture().dump();
            assertThat(upsert(spec)).isInstanceOf(ScheduleChange.Unchanged.class);
            assertThat(fixture().dump()).isEqualTo(before);
        }
    }

    @Test
    void instants_that_differ_below_the_stored_precision_are_the_same_definition() {
        ScheduleSpec spec = TEN_SECONDS.when(When.every(Duration.ofSeconds(10)).from(at(1).plusNanos(123_456_789)));
        upsert(spec);

        assertThat(upsert(spec)).isInstanceOf(ScheduleChange.Unchanged.class);
    }

    @Test
    void one_of_several_concurrent_creations_of_a_schedule_succeeds() {
        List<ScheduleChange> changes = Concurrently.run(
                8,
                thread -> (thread % 2 == 0 ? storage() : fixture().secondStorage())
                        .schedules()
                        .upsert(TEN_SECONDS.definition()));

        assertThat(changes.stream().filter(ScheduleChange.Created.class::isInstance))
                .hasSize(1);
        assertThat(changes.stream().filter(ScheduleChange.Unchanged.class::isInstance))
                .hasSize(7);
        assertThat(lines("report")).hasSize(12);
    }

    @Test
    void a_schedule_that_would_never_fire_is_refused_and_not_stored() {
        assertThatThrownBy(() -> upsert(MINUTELY.when(When.once(StoreFixture.NOON))))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("has no planned instant after");
        assertThat(storage().schedules().list(PROJECT)).isEmpty();
    }

    @Test
    void a_one_off_schedule_creates_one_tick() {
        upsert(MINUTELY.when(When.once(at(30))));

        advance(Duration.ofMinutes(1));
        planAll();

        assertThat(lines("report")).containsExactly("12:00:30 waiting");
        assertThat(schedule("report").planningState().nextAt()).isEqualTo(Instant.MAX);
        assertThat(due().schedules()).isEmpty();
    }

    @Test
    void ticks_have_the_payload_and_their_planned_instant() {
        upsert(MINUTELY.when(When.every(Duration.ofMinutes(1)).jitter(Duration.ofSeconds(20)))
                .payload("eu"));
        advance(Duration.ofSeconds(119));

        Attempt attempt = claimOne(node());

        assertThat(attempt.origin()).isEqualTo(Origin.TICK);
        assertThat(attempt.times().plannedAt()).isEqualTo(at(60));
        assertThat(attempt.times().dueAt()).isBetween(at(60), at(80));
        assertThat(new String(attempt.payload().bytes(), StandardCharsets.UTF_8))
                .isEqualTo("eu");
        assertThat(attempt.idempotencyKey()).isEqualTo(schedule("report").id() + "@" + at(60));
    }

    @Test
    void an_edit_replaces_future_ticks_and_keeps_due_ticks_with_the_old_definition() {
        upsert(MINUTELY.payload("old"));
        advance(Duration.ofSeconds(60));

        assertThat(upsert(MINUTELY.payload("new"))).isInstanceOf(ScheduleChange.Updated.class);

        assertThat(lines("report")).containsExactly("12:01:00 waiting", "12:02:00 waiting", "12:03:00 waiting");
        advance(Duration.ofMinutes(2));
        assertThat(claim(node(), 9))
                .extracting(attempt -> new String(attempt.payload().bytes(), StandardCharsets.UTF_8))
                .containsExactly("old", "new", "new");
    }

    @Test
    void an_edit_of_the_timing_assigns_each_instant_to_one_definition() {
        upsert(TEN_SECONDS);
        advance(Duration.ofSeconds(25));

        upsert(TEN_SECONDS.when(When.every(Duration.ofSeconds(15))));

        advance(Duration.ofSeconds(50));
        planAll();
        covered(
                new LedgerCoverage.Span(StoreFixture.NOON, at(25), When.every(Duration.ofSeconds(10))),
                new LedgerCoverage.Span(at(25), cursor(), When.every(Duration.ofSeconds(15))));
    }

    private void covered(LedgerCoverage.Span... spans) {
        assertThat(LedgerCoverage.violations(ledger("report"), List.of(spans))).isEmpty();
    }

    private Instant cursor() {
        return schedule("report").planningState().cursor();
    }

    @Test
    void an_edit_does_not_lose_instants_that_were_not_planned_yet() {
        upsert(TEN_SECONDS);
        advance(Duration.ofHours(2));

        upsert(TEN_SECONDS.when(When.every(Duration.ofSeconds(15))));

        planAll();
        covered(
                new LedgerCoverage.Span(StoreFixture.NOON, at(7_200), When.every(Duration.ofSeconds(10))),
                new LedgerCoverage.Span(at(7_200), cursor(), When.every(Duration.ofSeconds(15))));
    }

    @Test
    void an_edit_of_a_paused_schedule_keeps_the_ledger_entry_of_the_pause() {
        upsert(TEN_SECONDS);
        advance(Duration.ofSeconds(25));
        pause("report");
        advance(Duration.ofMinutes(10));

        upsert(TEN_SECONDS.when(When.every(Duration.ofSeconds(15))));
        assertThat(schedule("report").isPaused()).isTrue();
        advance(Duration.ofMinutes(10));
        resume("report");

        planAll();
        covered(
                new LedgerCoverage.Span(StoreFixture.NOON, at(625), When.every(Duration.ofSeconds(10))),
                new LedgerCoverage.Span(at(625), cursor(), When.every(Duration.ofSeconds(15))));
    }

    @Test
    void an_instant_that_was_cancelled_stays_cancelled_after_an_edit() {
        upsert(TEN_SECONDS);
        RunId future = ledger("report").get(3).run();
        storage().runAdmin().cancel(PROJECT, future, "not this one");

        upsert(TEN_SECONDS.payload("second"));

        advance(Duration.ofSeconds(45));
        assertThat(runDue(node())).containsExactlyInAnyOrder(at(10), at(20), at(30));
        covered(new LedgerCoverage.Span(StoreFixture.NOON, cursor(), When.every(Duration.ofSeconds(10))));
        assertThat(lines("report").get(3)).isEqualTo("12:00:40 cancelled not this one");
    }

    @Test
    void an_edit_after_the_clock_was_set_back_repeats_no_instant() {
        upsert(TEN_SECONDS);
        UUID node = node();
        advance(Duration.ofHours(1));
        planAll();
        runDue(node);
        assertThat(lines("report")).anyMatch(line -> line.endsWith("succeeded"));
        fixture().clock().stopAt(at(5));

        upsert(TEN_SECONDS.payload("second"));

        planAll();
        fixture().clock().stopAt(at(3_700));
        planAll();
        covered(new LedgerCoverage.Span(StoreFixture.NOON, cursor(), When.every(Duration.ofSeconds(10))));
    }

    @Test
    void pausing_ends_due_ticks_in_the_ledger_and_creates_no_more() {
        upsert(TEN_SECONDS);
        advance(Duration.ofSeconds(25));

        assertThat(pause("report")).isTrue();

        assertThat(lines("report")).containsExactly("12:00:10 skipped paused", "12:00:20 skipped paused");
        assertThat(pause("report")).isFalse();
        advance(Duration.ofMinutes(5));
        planAll();
        assertThat(claim(node(), 9)).isEmpty();
        assertThat(schedule("report").pause()).isEqualTo(new Schedule.Pause(at(25), "ann", "why", null));
        assertThat(storage().runAdmin().list(PROJECT, RunFilter.all()))
                .hasSize(2)
                .allSatisfy(run -> assertThat(run.state()).isEqualTo(RunState.SKIPPED));
    }

    @Test
    void pausing_does_not_lose_instants_that_were_not_planned_yet() {
        upsert(TEN_SECONDS);
        advance(Duration.ofHours(2));

        pause("report");

        covered(new LedgerCoverage.Span(StoreFixture.NOON, cursor(), When.every(Duration.ofSeconds(10))));
        assertThat(ledger("report"))
                .allSatisfy(entry -> assertThat(entry.state()).isEqualTo("skipped"));
    }

    @Test
    void resuming_continues_with_the_next_instant_and_creates_no_backlog() {
        upsert(TEN_SECONDS);
        UUID node = node();
        advance(Duration.ofSeconds(15));
        runDue(node);
        pause("report");
        advance(Duration.ofDays(3));

        assertThat(resume("report")).isTrue();

        assertThat(resume("report")).isFalse();
        assertThat(claim(node, 9)).isEmpty();
        List<LedgerEntry> ledger = ledger("report");
        assertThat(ledger.get(0).state()).isEqualTo("succeeded");
        assertThat(ledger.get(1).count()).isEqualTo(3 * 24 * 360);
        assertThat(ledger.get(1).reason()).isEqualTo("paused");
        assertThat(ledger.get(2).from()).isEqualTo(at(20).plus(Duration.ofDays(3)));
        covered(new LedgerCoverage.Span(StoreFixture.NOON, cursor(), When.every(Duration.ofSeconds(10))));
    }

    @Test
    void a_long_pause_of_a_schedule_with_an_instant_every_second_can_be_resumed() {
        upsert(TEN_SECONDS.when(When.cron("* * * * * *", "Europe/Paris")));
        pause("report");
        advance(Duration.ofDays(300));

        assertThat(resume("report")).isTrue();

        assertThat(ledger("report").get(0).count()).isEqualTo(300L * 86_400);
    }

    @Test
    void a_running_tick_continues_after_pause_and_delete() {
        upsert(TEN_SECONDS);
        UUID node = node();
        advance(Duration.ofSeconds(10));
        Attempt attempt = claimOne(node);

        pause("report");
        delete("report");

        assertThat(apply(node, attempt, complete())).isEqualTo(io.carillon.internal.store.run.WriteResult.ACCEPTED);
        assertThat(get(attempt.run()).state()).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void deleting_a_schedule_cancels_its_due_ticks_and_creates_no_more() {
        upsert(TEN_SECONDS);
        advance(Duration.ofSeconds(25));

        assertThat(delete("report")).isTrue();

        assertThat(delete("report")).isFalse();
        advance(Duration.ofMinutes(5));
        planAll();
        assertThat(claim(node(), 9)).isEmpty();
        assertThat(storage().runAdmin().list(PROJECT, RunFilter.all()))
                .hasSize(2)
                .allSatisfy(run -> {
                    assertThat(run.state()).isEqualTo(RunState.CANCELLED);
                    assertThat(run.details().reason()).isEqualTo("schedule deleted");
                });
        upsert(TEN_SECONDS);
        assertThat(ledger("report"))
                .allSatisfy(entry -> assertThat(entry.state()).isEqualTo("waiting"));
    }

    @Test
    void deleting_during_claims_leaves_only_the_claimed_ticks() {
        for (int round = 0; round < 20; round++) {
            upsert(TEN_SECONDS);
            UUID node = node();
            advance(Duration.ofSeconds(60));

            List<Object> answers = Concurrently.run(2, thread -> thread == 0 ? claim(node, 3) : delete("report"));

            assertThat(answers.get(1)).isEqualTo(true);
            int claimed = ((List<?>) answers.get(0)).size();
            assertThat(claim(node, 99)).isEmpty();
            assertThat(storage().runs().ownedRuns(node)).hasSize(claimed);
            fixture().clear();
        }
    }

    @Test
    void editing_during_claims_and_completions_runs_each_instant_once() {
        for (int round = 0; round < 20; round++) {
            upsert(TEN_SECONDS);
            UUID node = node();
            advance(Duration.ofSeconds(30));
            String payload = "edit " + round;

            Concurrently.run(4, thread -> {
                if (thread == 0) return upsert(TEN_SECONDS.payload(payload));
                if (thread == 1) fixture().clock().advance(Duration.ofSeconds(10));
                return runDue(node);
            });

            planAll();
            covered(new LedgerCoverage.Span(StoreFixture.NOON, cursor(), When.every(Duration.ofSeconds(10))));
            fixture().clear();
        }
    }

    @Test
    void a_trigger_creates_one_run_now_without_a_planned_instant() {
        upsert(MINUTELY.payload("eu"));

        RunId id = storage().schedules().trigger(PROJECT, "report").orElseThrow();

        Attempt attempt = claimOne(node());
        assertThat(attempt.run()).isEqualTo(id);
        assertThat(attempt.origin()).isEqualTo(Origin.TRIGGER);
        assertThat(attempt.times()).isEqualTo(new Attempt.Times(null, StoreFixture.NOON));
        assertThat(storage().schedules().trigger(PROJECT, "none")).isEmpty();
        assertThat(lines("report")).hasSize(2);
    }

    @Test
    void a_trigger_repeated_with_the_same_id_creates_one_run() {
        upsert(MINUTELY);
        RunId id = RunId.generate();

        for (int i = 0; i < 2; i++)
            assertThat(storage().schedules().trigger(PROJECT, "report", id)).isTrue();

        assertThat(claim(node(), 9)).hasSize(1);
    }

    @Test
    void unknown_schedules_are_named_in_the_error() {
        assertThatThrownBy(() -> pause("none")).hasMessageContaining("'none'");
        assertThatThrownBy(() -> resume("none")).hasMessageContaining("'none'");
        assertThatThrownBy(() -> ledger("none")).hasMessageContaining("'none'");
        assertThat(delete("none")).isFalse();
    }
}
