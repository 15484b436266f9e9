package io.carillon.it.lostanswer;

import static io.carillon.internal.store.schedule.PlanStore.ZonePosition.START;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.store.Storage;
import io.carillon.it.fixture.LedgerCoverage;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunId;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.assertj.core.api.InstanceOfAssertFactories;

/** For each writing statement about schedules and plans: a call that sends it, and a check that it took effect once. */
final class LostScheduleCases extends LostCases {
    private static final When TEN_SECONDS = When.every(Duration.ofSeconds(10));
    private static final ScheduleSpec SPEC = ScheduleSpec.of(TEN_SECONDS);

    LostScheduleCases(PostgresStoreFixture fixture, Storage through) {
        super(fixture, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.ofEntries(
                entry("Backfill.INSERT", this::backfill),
                entry("PlanRepository.RESOLVE_MISSED", this::settle),
                entry("PlanRepository.WRITE", this::write),
                entry("LeaderToken.ACQUIRE", this::lead),
                entry("LeaderToken.RELEASE", this::stepDown),
                entry("UnstartedTicks.INSERT_GAP", () -> changed(Duration.ofHours(1), this::pause, false)),
                entry("UnstartedTicks.END_UNSTARTED", () -> changed(Duration.ofSeconds(25), this::pause, false)),
                entry("UnstartedTicks.DELETE_AFTER_CUTOFF", () -> changed(Duration.ofSeconds(25), this::edit, null)),
                entry("UnstartedTicks.MOVE_CURSOR", () -> changed(Duration.ofSeconds(25), this::edit, null)),
                entry("ScheduleMaintenance.ADAPT", this::adapt),
                entry("ScheduleMaintenance.UPDATE_TZDATA", this::markRules),
                entry("ScheduleRepository.DELETE", this::delete),
                entry("NewSchedules.CREATE", this::insert),
                entry("SchedulePauses.PAUSE", () -> changed(Duration.ofSeconds(25), this::pause, false)),
                entry("ScheduleRepository.UPDATE_HEADERS", this::renew),
                entry("ScheduleRepository.RESUME", this::resume),
                entry("ScheduleRepository.TRIGGER", this::trigger),
                entry("ScheduleRepository.UPDATE", () -> changed(Duration.ofSeconds(25), this::edit, null)));
    }

    private Object pause() {
        return faultyStorage.schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
    }

    private Object edit() {
        return faultyStorage.schedules().upsert(SPEC.payload("second").definition());
    }

    private void assertCovered() {
        Instant cursor = schedule("report").planningState().cursor();
        assertThat(LedgerCoverage.violations(
                        ledger("report"), List.of(new LedgerCoverage.Span(StoreFixture.NOON, cursor, TEN_SECONDS))))
                .isEmpty();
    }

    /**
     * Changes a schedule after some time has passed. The second answer reports that nothing was left to change, and
     * every instant has one ledger entry.
     */
    private LostAnswer changed(Duration passed, Callable<?> call, Object expected) {
        store(SPEC);
        advance(passed);
        return LostAnswer.of(call, answer -> {
            if (expected != null) assertThat(answer).isEqualTo(expected);
            else assertThat(answer).isInstanceOf(ScheduleChange.Unchanged.class);
            assertThat(schedule("report").version()).isEqualTo(2);
            assertCovered();
        });
    }

    private LostAnswer write() {
        store(SPEC);
        advance(Duration.ofHours(2));
        List<TickPlan> plans = List.of(
                PLANNER.plan(schedule("report"), List.of(), fixture.clock().now()));
        assertThat(plans.get(0).gaps()).isNotEmpty();
        return LostAnswer.of(() -> faultyStorage.plans().write(plans), answer -> {
            assertThat(answer).isEqualTo(List.of());
            assertThat(schedule("report").planningState().ticks())
                    .isEqualTo(12 + plans.get(0).ticks().size());
            assertCovered();
        });
    }

    /** Writes a plan with new ticks, decisions about late ticks, and a range of instants that were never planned. */
    private LostAnswer settle() {
        store(SPEC);
        advance(Duration.ofHours(2));
        List<TickPlan> plans = plans(due());
        TickPlan plan = plans.get(0);
        assertThat(List.of(plan.ticks(), plan.lateDecisions(), plan.gaps())).noneMatch(List::isEmpty);
        return LostAnswer.of(() -> faultyStorage.plans().write(plans), answer -> {
            assertThat(answer).isEqualTo(List.of());
            assertThat(schedule("report").planningState().ticks())
                    .isEqualTo(12 + plan.ticks().size());
            assertCovered();
        });
    }

    private LostAnswer adapt() {
        store(ScheduleSpec.of(When.adaptive(Duration.ofSeconds(10), Duration.ofHours(1))));
        advance(Duration.ofSeconds(10));
        return LostAnswer.of(() -> faultyStorage.plans().adaptIntervals(), answer -> {
            assertThat(answer).isEqualTo(0);
            planAll();
            assertThat(lines("report")).containsExactly("12:00:10 waiting", "12:00:25 waiting");
        });
    }

    private LostAnswer markRules() {
        store(ScheduleSpec.of(When.cron("0 2 * * *", "Europe/Paris")));
        fixture.database().execute("UPDATE carillon.schedule SET tzdata = '2000a'");
        return LostAnswer.of(
                () -> faultyStorage.plans().replanChangedZones(START).replanned(), answer -> {
                    assertThat(answer).isEqualTo(0);
                    assertThat(schedule("report").version()).isEqualTo(2);
                });
    }

    /** Creates a schedule with ticks and, a minute before midnight, one whose instants until then are excluded. */
    private LostAnswer insert() {
        advance(Duration.ofHours(12).minusMinutes(1));
        When notToday = TEN_SECONDS.except(LocalDate.ofInstant(StoreFixture.NOON, ZoneOffset.UTC));
        List<ScheduleDefinition> wanted =
                List.of(SPEC.definition(), SPEC.named("tomorrow").when(notToday).definition());
        return LostAnswer.of(() -> faultyStorage.schedules().upsertAll(wanted, id -> null), answer -> {
            assertThat(answer)
                    .asInstanceOf(InstanceOfAssertFactories.LIST)
                    .hasSize(2)
                    .hasOnlyElementsOfType(ScheduleChange.Unchanged.class);
            assertThat(storage().schedules().list(PROJECT)).hasSize(2);
            assertThat(lines("report")).hasSize(12);
            // A gap of five instants, and the ticks of the first minute of the next day.
            assertThat(lines("tomorrow")).hasSize(8);
        });
    }

    private LostAnswer renew() {
        store(SPEC);
        return LostAnswer.of(() -> faultyStorage.schedules().upsert(SPEC.definition(), id -> "on=behalf\n"), answer -> {
            assertThat(answer).isInstanceOf(ScheduleChange.Unchanged.class);
            assertThat(schedule("report").version()).isOne();
            assertThat(fixture.query("SELECT count(*) FROM carillon.schedule WHERE headers = E'on=behalf\\n'")
                            .number())
                    .isOne();
        });
    }

    private LostAnswer resume() {
        store(SPEC);
        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        advance(Duration.ofHours(1));
        return LostAnswer.of(() -> faultyStorage.schedules().resume(PROJECT, "report"), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(schedule("report").isPaused()).isFalse();
            assertCovered();
        });
    }

    private LostAnswer delete() {
        store(SPEC);
        advance(Duration.ofSeconds(25));
        return LostAnswer.of(() -> faultyStorage.schedules().delete(PROJECT, "report"), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(storage().schedules().list(PROJECT)).isEmpty();
            assertThat(fixture.query("SELECT count(*) FROM carillon.run").number())
                    .isZero();
            assertThat(fixture.query("SELECT count(*) FROM carillon.run_history")
                            .number())
                    .isEqualTo(2);
        });
    }

    private LostAnswer lead() {
        UUID node = node();
        return LostAnswer.of(() -> faultyStorage.plans().acquireToken(node, SECOND), answer -> {
            assertThat(answer).isEqualTo(true);
            assertThat(storage().plans().acquireToken(node(), SECOND)).isFalse();
        });
    }

    private LostAnswer stepDown() {
        UUID node = node();
        storage().plans().acquireToken(node, SECOND);
        return LostAnswer.of(
                call(() -> faultyStorage.plans().releaseToken(node)),
                answer -> assertThat(storage().plans().acquireToken(node(), SECOND))
                        .isTrue());
    }

    private LostAnswer backfill() {
        store(SPEC);
        Instant from = StoreFixture.NOON.minusSeconds(30);
        return LostAnswer.of(
                () -> faultyStorage.schedules().backfill(PROJECT, "report", from, StoreFixture.NOON, true), answer -> {
                    assertThat(answer).isEqualTo(0);
                    assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE origin = 'backfill'")
                                    .number())
                            .isEqualTo(4);
                });
    }

    private LostAnswer trigger() {
        store(SPEC);
        RunId id = RunId.generate();
        return LostAnswer.of(() -> faultyStorage.schedules().trigger(PROJECT, "report", id), answer -> {
            assertThat(answer).isEqualTo(true);
            assertThat(claim(node(), 9)).hasSize(1);
        });
    }
}
