package io.carillon.it.schedule;

import static io.carillon.internal.store.schedule.PlanStore.ZonePosition.START;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.it.fixture.LedgerCoverage;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleId;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A schedule that this version or its time zone data cannot read affects no other schedule. */
class UnreadableScheduleTest extends PlanningContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final ScheduleSpec PARIS = ScheduleSpec.of(When.cron("* * * * *", "Europe/Paris"));

    private Storage fresh;

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @BeforeEach
    void open() {
        fresh = new PostgresStorage(FIXTURE.database().dataSource(), TickPlanner.defaults());
    }

    @AfterEach
    void close() {
        fresh.close();
    }

    private static void set(String name, String column) {
        FIXTURE.database().execute("UPDATE carillon.schedule SET %s WHERE name = '%s'".formatted(column, name));
    }

    private List<String> due(int limit) {
        return fresh.plans().due(REACH, limit).schedules().stream()
                .map(Schedule::name)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zone = 'Mars/Olympus'",
                "missed = 'run-some'",
                "overlap = 'sometimes'",
                "gap = 'fly-over'",
                "expression = '?/2 * * * *'",
                "kind = 'interval'"
            })
    void an_unreadable_row_affects_no_other_schedule(String column) {
        for (String name : List.of("a", "b", "c")) store(PARIS.named(name));
        set("b", column);
        advance(Duration.ofMinutes(2));

        assertThat(due(500)).containsExactlyInAnyOrder("a", "c");
        assertThat(fresh.plans().unreadable()).containsOnlyKeys(PROJECT + "/b");
        List<Schedule> all = fresh.schedules().list(PROJECT);
        assertThat(all).extracting(Schedule::name).containsExactly("a", "b", "c");
        assertThat(all).extracting(one -> one.unreadable() != null).containsExactly(false, true, false);
        assertThat(fresh.schedules().list(PROJECT, "a", 1))
                .extracting(Schedule::name)
                .containsExactly("b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"zone = 'Mars/Olympus'", "missed = 'run-some'", "expression = '?/2 * * * *'"})
    void an_unreadable_row_is_shown_with_its_stored_values_and_can_be_deleted(String column) {
        ScheduleId id = store(PARIS).id();
        set("report", column);
        advance(Duration.ofMinutes(2));

        Schedule shown = fresh.schedules().get(PROJECT, "report").orElseThrow();
        assertThat(shown.id()).isEqualTo(id);
        assertThat(shown.definition().when().describe()).startsWith("cannot be read: ");
        assertThat(shown.unreadable().stored()).containsKeys("kind", "expression", "zone", "gap", "repeat");
        assertThat(shown.unreadable().stored().values()).contains(column.replaceFirst(".* = '(.*)'", "$1"));

        assertThat(fresh.schedules().delete(PROJECT, "report")).isTrue();
        assertThat(fresh.schedules().get(PROJECT, "report")).isEmpty();
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.run").number()).isZero();
        assertThat(fresh.schedules().delete(PROJECT, "report")).isFalse();
    }

    @Test
    void an_unreadable_row_is_replaced_and_planned_again_and_unplanned_instants_have_an_entry() {
        store(PARIS);
        set("report", "zone = 'Mars/Olympus'");
        advance(Duration.ofHours(1));
        long version = fresh.schedules().get(PROJECT, "report").orElseThrow().version();

        ScheduleChange change = fresh.schedules().upsert(PARIS.definition());

        assertThat(change).isInstanceOf(ScheduleChange.Updated.class);
        Schedule replaced = fresh.schedules().get(PROJECT, "report").orElseThrow();
        assertThat(replaced.unreadable()).isNull();
        assertThat(replaced.version()).isEqualTo(version + 1);
        assertThat(replaced.planningState().nextAt()).isAfter(fixture().clock().now());
        assertThat(fresh.schedules()
                        .ledger(PROJECT, "report", StoreFixture.NOON, StoreFixture.NOON.plus(Duration.ofHours(2))))
                .anySatisfy(line -> {
                    assertThat(line.state()).isEqualTo("missed");
                    assertThat(line.reason()).isEqualTo("definition could not be read");
                });
    }

    @Test
    void an_unreadable_row_is_paused_and_triggered_but_not_resumed_or_backfilled() {
        store(PARIS);
        set("report", "overlap = 'sometimes'");

        assertThat(fresh.schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", "broken", null)))
                .isTrue();
        assertThat(fresh.schedules().trigger(PROJECT, "report")).isPresent();
        assertThatThrownBy(() -> fresh.schedules().resume(PROJECT, "report"))
                .isInstanceOfSatisfying(
                        CarillonException.class,
                        refused -> assertThat(refused.code()).isEqualTo(ErrorCode.SCHEDULE_UNREADABLE))
                .hasMessageContaining("Schedule 'report' cannot be read by this version")
                .hasMessageContaining("Replace it or delete it.");
        assertThatThrownBy(() ->
                        fresh.schedules().backfill(PROJECT, "report", StoreFixture.NOON, StoreFixture.NOON, false))
                .isInstanceOf(CarillonException.class);
        assertThat(fresh.schedules().delete(PROJECT, "report")).isTrue();
    }

    @Test
    void an_unreadable_row_whose_pause_has_ended_is_not_read_again_in_each_round() {
        store(PARIS);
        set("report", "overlap = 'sometimes'");
        fresh.schedules()
                .pause(
                        PROJECT,
                        "report",
                        new Schedule.Pause(Instant.EPOCH, "ann", null, StoreFixture.NOON.plusSeconds(30)));
        advance(Duration.ofMinutes(1));

        assertThat(fresh.plans().updatePauses(REACH)).isEmpty();

        assertThat(fresh.plans().unreadable()).containsOnlyKeys(PROJECT + "/report");
        assertThat(fresh.plans().hasWork(REACH)).isFalse();
    }

    @Test
    void more_unreadable_rows_than_a_round_reads_do_not_hide_the_others() {
        for (int i = 0; i < 10; i++) {
            store(PARIS.named("u" + i));
            set("u" + i, "zone = 'Mars/Olympus', next_at = next_at - interval '1 hour'");
        }
        store(PARIS.named("z"));
        advance(Duration.ofMinutes(2));

        assertThat(due(3)).containsExactly("z");
    }

    @Test
    void unreadable_rows_stop_neither_replanning_nor_adaptation() {
        When adaptive = When.adaptive(Duration.ofSeconds(10), Duration.ofSeconds(60));
        for (String name : List.of("a", "b")) store(PARIS.named(name));
        for (String name : List.of("c", "d")) store(ScheduleSpec.of(adaptive).named(name));
        FIXTURE.database().execute("UPDATE carillon.schedule SET tzdata = '2000a'");
        set("b", "zone = 'Mars/Olympus'");
        set("d", "missed = 'run-some'");
        advance(Duration.ofSeconds(10));

        assertThat(fresh.plans().replanChangedZones(START).replanned()).isEqualTo(1);
        assertThat(fresh.plans().adaptIntervals()).isEqualTo(1);
        assertThat(fresh.plans().unreadable()).containsOnlyKeys(PROJECT + "/b", PROJECT + "/d");
    }

    @Test
    void a_node_with_older_time_zone_rules_does_not_plan_over_newer_ones() {
        store(PARIS.named("newer"));
        store(ScheduleSpec.of(When.cron("* * * * *", "UTC")).named("utc"));
        store(PARIS.named("own"));
        FIXTURE.database().execute("UPDATE carillon.schedule SET tzdata = '2999z' WHERE name <> 'own'");
        advance(Duration.ofHours(1));

        assertThat(due(500)).containsExactlyInAnyOrder("utc", "own");
        assertThat(fresh.plans().replanChangedZones(START).replanned()).isZero();
    }

    @Test
    void ticks_stay_when_newer_rules_change_no_instant_and_older_plans_are_refused() {
        store(PARIS);
        set("report", "tzdata = '2000a'");
        advance(Duration.ofSeconds(70));
        var stale = plans(due());
        String runs = FIXTURE.query("SELECT string_agg(id::text, ' ' ORDER BY id) FROM carillon.run")
                .text();

        assertThat(fresh.plans().replanChangedZones(START).replanned()).isEqualTo(1);

        assertThat(FIXTURE.query("SELECT string_agg(id::text, ' ' ORDER BY id) FROM carillon.run")
                        .text())
                .isEqualTo(runs);
        assertThat(storage().plans().write(stale)).isEmpty();
        assertThat(fresh.plans().replanChangedZones(START).replanned()).isZero();
        planAll();
        assertThat(LedgerCoverage.violations(
                        ledger("report"),
                        List.of(new LedgerCoverage.Span(
                                StoreFixture.NOON,
                                schedule("report").planningState().cursor(),
                                When.cron("* * * * *", "UTC")))))
                .isEmpty();
    }

    @Test
    void an_instant_that_newer_rules_move_is_replanned() {
        store(ScheduleSpec.of(When.cron("0 0 1 1 *", "America/New_York")));
        set("report", "tzdata = '2000a', next_at = next_at + interval '1 hour'");

        assertThat(fresh.plans().replanChangedZones(START).replanned()).isEqualTo(1);

        assertThat(schedule("report").planningState().nextAt()).isEqualTo(Instant.parse("2027-01-01T05:00:00Z"));
    }
}
