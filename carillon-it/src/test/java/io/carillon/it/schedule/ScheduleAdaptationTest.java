package io.carillon.it.schedule;

import static io.carillon.internal.store.schedule.PlanStore.ZonePosition.START;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Schedules that adapt to changes: of the backlog of their lane, and of the rules of their time zone. */
class ScheduleAdaptationTest extends PlanningContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final When ADAPTIVE = When.adaptive(Duration.ofSeconds(10), Duration.ofSeconds(60));

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    /** Advances to the next instant, adapts and plans, and returns the new interval in seconds. */
    private long advanceToNext() {
        Instant cursor = schedule("report").planningState().cursor();
        fixture().clock().stopAt(cursor);
        assertThat(storage().plans().adaptIntervals()).isEqualTo(1);
        planAll();
        Schedule after = schedule("report");
        Instant planned = after.planningState().cursor();
        return Duration.between(
                        cursor,
                        planned.isAfter(cursor)
                                ? planned
                                : after.planningState().nextAt())
                .toSeconds();
    }

    @Test
    void an_interval_grows_by_half_while_no_run_waits_and_halves_while_the_backlog_grows() {
        store(ScheduleSpec.of(ADAPTIVE));
        assertThat(lines("report")).containsExactly("12:00:10 waiting");

        assertThat(List.of(
                        advanceToNext(),
                        advanceToNext(),
                        advanceToNext(),
                        advanceToNext(),
                        advanceToNext(),
                        advanceToNext()))
                .containsExactly(15L, 22L, 33L, 49L, 60L, 60L);
        enqueue(RunSpec.mail(), 3);
        assertThat(advanceToNext()).isEqualTo(30);
        enqueue(RunSpec.mail(), 1);
        assertThat(advanceToNext()).isEqualTo(15);
        assertThat(advanceToNext()).as("the backlog is as large as before").isEqualTo(15);
        enqueue(RunSpec.mail(), 1);
        assertThat(List.of(advanceToNext(), advanceToNext())).containsExactly(10L, 10L);
        claim(node(), 99);
        assertThat(advanceToNext()).as("no run waits").isEqualTo(15);
    }

    @Test
    void an_idle_hour_costs_fewer_runs_than_a_fixed_interval() {
        store(ScheduleSpec.of(ADAPTIVE));
        store(ScheduleSpec.every(Duration.ofSeconds(10)).named("fixed"));
        UUID node = node();
        for (int second = 0; second < 3_600; second += 10) {
            advance(Duration.ofSeconds(10));
            planAll();
            runDue(node);
            storage().plans().adaptIntervals();
        }

        Instant now = fixture().clock().now();
        assertThat(countRuns("fixed", now)).isEqualTo(360);
        assertThat(countRuns("report", now)).isBetween(55L, 70L);
    }

    private long countRuns(String name, Instant until) {
        return ledger(name).stream().filter(line -> !line.to().isAfter(until)).count();
    }

    @Test
    void an_interval_is_adapted_once_per_instant_however_many_nodes_plan() {
        store(ScheduleSpec.of(ADAPTIVE));
        assertThat(storage().plans().adaptIntervals())
                .as("before the first instant of the schedule")
                .isZero();
        advance(Duration.ofSeconds(10));

        List<Integer> followed = Concurrently.run(
                4,
                thread -> (thread % 2 == 0 ? storage() : fixture().secondStorage())
                        .plans()
                        .adaptIntervals());

        assertThat(followed.stream().mapToInt(Integer::intValue).sum()).isEqualTo(1);
        assertThat(schedule("report").planningState().nextAt()).isEqualTo(at(25));
    }

    @Test
    void an_edit_keeps_the_interval_and_the_same_definition_changes_nothing() {
        store(ScheduleSpec.of(ADAPTIVE));
        advanceToNext();
        advanceToNext();

        assertThat(upsert(ScheduleSpec.of(ADAPTIVE))).isInstanceOf(ScheduleChange.Unchanged.class);
        Schedule edited = store(ScheduleSpec.of(ADAPTIVE).payload("second"));
        assertThat(edited.definition().when().fixedPeriod()).isEqualTo(Duration.ofSeconds(22));
        assertThat(storage().plans().adaptIntervals())
                .as("an edit does not trigger an adaptation")
                .isZero();
        Schedule other = store(ScheduleSpec.of(When.adaptive(Duration.ofSeconds(20), Duration.ofSeconds(60))));
        assertThat(other.definition().when().fixedPeriod()).isEqualTo(Duration.ofSeconds(20));
        assertThat(store(ScheduleSpec.every(Duration.ofSeconds(30)))
                        .definition()
                        .when()
                        .adaptive())
                .isNull();
    }

    private void plannedByOldRules() {
        FIXTURE.database()
                .execute("UPDATE carillon.run SET planned_at = planned_at + interval '30 s',"
                        + " due_at = due_at + interval '30 s'"
                        + " WHERE planned_at > carillon.clock();"
                        + " UPDATE carillon.schedule SET tzdata = '2000a', cursor = cursor + interval '30 s',"
                        + " next_at = next_at + interval '30 s'");
    }

    @Test
    void newer_rules_replan_future_ticks_and_keep_past_runs() {
        store(ScheduleSpec.of(When.cron("* * * * *", "Europe/Paris")));
        fixture().clock().stopAt(at(60));
        assertThat(runDue(node())).containsExactly(at(60));
        plannedByOldRules();
        assertThat(lines("report")).containsExactly("12:01:00 succeeded", "12:02:30 waiting");

        assertThat(storage().plans().replanChangedZones(START).replanned()).isEqualTo(1);
        assertThat(lines("report")).containsExactly("12:01:00 succeeded", "12:02:00 waiting", "12:03:00 waiting");
        assertThat(storage().plans().replanChangedZones(START).replanned())
                .as("the second call finds nothing to replan")
                .isZero();
    }

    @Test
    void a_schedule_that_cannot_be_changed_does_not_stop_the_others() {
        for (String name : List.of("a", "b", "c"))
            store(ScheduleSpec.of(When.cron("* * * * *", "Europe/Paris")).named(name));
        for (String name : List.of("d", "b2", "f"))
            store(ScheduleSpec.of(ADAPTIVE).named(name));
        advance(Duration.ofSeconds(10));
        FIXTURE.database().execute("""
                UPDATE carillon.schedule SET tzdata = '2000a';
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF OLD.name LIKE 'b%' THEN RAISE EXCEPTION 'poisoned' USING ERRCODE = '23505'; END IF;
                  RETURN NEW;
                END $$;
                CREATE TRIGGER refuse BEFORE UPDATE ON carillon.schedule FOR EACH ROW EXECUTE FUNCTION refuse()""");
        try {
            assertThat(storage().plans().replanChangedZones(START).replanned()).isEqualTo(2);
            assertThat(storage().plans().adaptIntervals()).isEqualTo(2);
        } finally {
            FIXTURE.database().execute("DROP TRIGGER refuse ON carillon.schedule; DROP FUNCTION refuse()");
        }
    }

    @Test
    void an_instant_that_newer_rules_move_earlier_is_replanned_although_no_tick_is_due() {
        store(ScheduleSpec.of(When.cron("0 0 1 1 *", "America/New_York")));
        plannedByOldRules();
        storage().plans().replanChangedZones(START);

        assertThat(schedule("report").planningState().nextAt()).isEqualTo(Instant.parse("2027-01-01T05:00:00Z"));
    }

    @Test
    void schedules_without_zone_rules_are_not_replanned_and_a_paused_schedule_stays_paused() {
        store(ScheduleSpec.of(When.cron("* * * * *", "UTC")).named("utc"));
        store(ScheduleSpec.of(When.once(at(90))).named("once"));
        store(ScheduleSpec.of(When.cron("* * * * *", "Europe/Paris")).named("paused"));
        storage().schedules().pause(PROJECT, "paused", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        FIXTURE.database().execute("UPDATE carillon.schedule SET tzdata = '2000a'");

        assertThat(storage().plans().replanChangedZones(START).replanned()).isEqualTo(1);
        assertThat(schedule("paused").isPaused()).isTrue();
        assertThat(schedule("utc").version()).isEqualTo(1);
    }
}
