package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.store.ScheduleChange;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Schedules that follow what changes around them: the backlog of their lane, and the rules of their time zone. */
class FollowingTest extends PlanningContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    private static final When ADAPTIVE = When.adaptive(Duration.ofSeconds(10), Duration.ofSeconds(60));

    @Override
    StoreBench bench() {
        return BENCH;
    }

    /** On to the next instant, and what a round of planning makes of it. */
    private long toNext() {
        Instant cursor = schedule("report").progress().cursor();
        bench().clock().at(cursor);
        assertThat(storage().plans().followBacklogs()).isEqualTo(1);
        planAll();
        Schedule after = schedule("report");
        Instant planned = after.progress().cursor();
        return Duration.between(
                        cursor,
                        planned.isAfter(cursor) ? planned : after.progress().nextAt())
                .toSeconds();
    }

    @Test
    void an_interval_gains_half_while_nothing_waits_and_halves_while_more_and_more_does() {
        store(Promise.of(ADAPTIVE));
        assertThat(lines("report")).containsExactly("12:00:10 waiting");

        assertThat(List.of(toNext(), toNext(), toNext(), toNext(), toNext(), toNext()))
                .containsExactly(15L, 22L, 33L, 49L, 60L, 60L);
        enqueue(Order.mail(), 3);
        assertThat(toNext()).isEqualTo(30);
        enqueue(Order.mail(), 1);
        assertThat(toNext()).isEqualTo(15);
        assertThat(toNext()).as("as many as before").isEqualTo(15);
        enqueue(Order.mail(), 1);
        assertThat(List.of(toNext(), toNext())).containsExactly(10L, 10L);
        claim(node(), 99);
        assertThat(toNext()).as("all of them run").isEqualTo(15);
    }

    @Test
    void an_idle_hour_costs_fewer_runs_than_a_fixed_interval() {
        store(Promise.of(ADAPTIVE));
        store(Promise.every(Duration.ofSeconds(10)).named("fixed"));
        UUID node = node();
        for (int second = 0; second < 3_600; second += 10) {
            advance(Duration.ofSeconds(10));
            planAll();
            runDue(node);
            storage().plans().followBacklogs();
        }

        Instant now = bench().clock().now();
        assertThat(ran("fixed", now)).isEqualTo(360);
        assertThat(ran("report", now)).isBetween(55L, 70L);
    }

    private long ran(String name, Instant until) {
        return ledger(name).stream().filter(line -> !line.to().isAfter(until)).count();
    }

    @Test
    void is_looked_at_once_after_each_instant_however_many_look() {
        store(Promise.of(ADAPTIVE));
        assertThat(storage().plans().followBacklogs())
                .as("before its first instant")
                .isZero();
        advance(Duration.ofSeconds(10));

        List<Integer> followed = Together.run(
                4,
                thread -> (thread % 2 == 0 ? storage() : bench().another())
                        .plans()
                        .followBacklogs());

        assertThat(followed.stream().mapToInt(Integer::intValue).sum()).isEqualTo(1);
        assertThat(schedule("report").progress().nextAt()).isEqualTo(at(25));
    }

    @Test
    void an_edit_keeps_the_pace_and_the_same_promise_again_changes_nothing() {
        store(Promise.of(ADAPTIVE));
        toNext();
        toNext();

        assertThat(upsert(Promise.of(ADAPTIVE))).isInstanceOf(ScheduleChange.Unchanged.class);
        Schedule edited = store(Promise.of(ADAPTIVE).payload("second"));
        assertThat(edited.definition().when().step()).isEqualTo(Duration.ofSeconds(22));
        assertThat(storage().plans().followBacklogs())
                .as("an edit is no instant")
                .isZero();
        Schedule other = store(Promise.of(When.adaptive(Duration.ofSeconds(20), Duration.ofSeconds(60))));
        assertThat(other.definition().when().step()).isEqualTo(Duration.ofSeconds(20));
        assertThat(store(Promise.every(Duration.ofSeconds(30)))
                        .definition()
                        .when()
                        .adaptive())
                .isNull();
    }

    private void plannedByOldRules() {
        BENCH.database()
                .execute(
                        "UPDATE carillon.run SET planned_at = planned_at + interval '30 s', due_at = due_at + interval '30 s'"
                                + " WHERE planned_at > carillon.clock();"
                                + " UPDATE carillon.schedule SET tzdata = '2000a', cursor = cursor + interval '30 s',"
                                + " next_at = next_at + interval '30 s'");
    }

    @Test
    void newer_rules_plan_the_future_anew_and_leave_what_ran() {
        store(Promise.of(When.cron("* * * * *", "Europe/Paris")));
        bench().clock().at(at(60));
        assertThat(runDue(node())).containsExactly(at(60));
        plannedByOldRules();
        assertThat(lines("report")).containsExactly("12:01:00 succeeded", "12:02:30 waiting");

        assertThat(storage().plans().followZones()).isEqualTo(1);
        assertThat(lines("report")).containsExactly("12:01:00 succeeded", "12:02:00 waiting", "12:03:00 waiting");
        assertThat(storage().plans().followZones()).as("once is enough").isZero();
    }

    @Test
    void one_that_cannot_be_changed_does_not_stop_the_others() {
        for (String name : List.of("a", "b", "c"))
            store(Promise.of(When.cron("* * * * *", "Europe/Paris")).named(name));
        for (String name : List.of("d", "b2", "f")) store(Promise.of(ADAPTIVE).named(name));
        advance(Duration.ofSeconds(10));
        BENCH.database().execute("""
                UPDATE carillon.schedule SET tzdata = '2000a';
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF OLD.name LIKE 'b%' THEN RAISE EXCEPTION 'poisoned' USING ERRCODE = '23505'; END IF;
                  RETURN NEW;
                END $$;
                CREATE TRIGGER refuse BEFORE UPDATE ON carillon.schedule FOR EACH ROW EXECUTE FUNCTION refuse()""");
        try {
            assertThat(storage().plans().followZones()).isEqualTo(2);
            assertThat(storage().plans().followBacklogs()).isEqualTo(2);
        } finally {
            BENCH.database().execute("DROP TRIGGER refuse ON carillon.schedule; DROP FUNCTION refuse()");
        }
    }

    @Test
    void an_instant_that_newer_rules_move_to_an_earlier_time_is_found_although_nothing_is_due() {
        store(Promise.of(When.cron("0 0 1 1 *", "America/New_York")));
        plannedByOldRules();
        storage().plans().followZones();

        assertThat(schedule("report").progress().nextAt()).isEqualTo(Instant.parse("2027-01-01T05:00:00Z"));
    }

    @Test
    void what_no_rules_can_move_is_left_alone_and_a_pause_stays_one() {
        store(Promise.of(When.cron("* * * * *", "UTC")).named("utc"));
        store(Promise.of(When.once(at(90))).named("once"));
        store(Promise.of(When.cron("* * * * *", "Europe/Paris")).named("paused"));
        storage().schedules().pause(PROJECT, "paused", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        BENCH.database().execute("UPDATE carillon.schedule SET tzdata = '2000a'");

        assertThat(storage().plans().followZones()).isEqualTo(1);
        assertThat(schedule("paused").paused()).isTrue();
        assertThat(schedule("utc").version()).isEqualTo(1);
    }
}
