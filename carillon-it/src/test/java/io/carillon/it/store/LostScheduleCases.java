package io.carillon.it.store;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.RunId;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import io.carillon.schedule.When;
import io.carillon.store.ScheduleChange;
import io.carillon.store.Storage;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** For each writing statement about schedules and plans: a deed that sends it, and the one effect it must have. */
final class LostScheduleCases extends LostCases {
    private static final When TEN_SECONDS = When.every(Duration.ofSeconds(10));
    private static final Promise PROMISE = Promise.of(TEN_SECONDS);

    LostScheduleCases(PostgresBench bench, Storage through) {
        super(bench, through);
    }

    @Override
    Map<String, Supplier<LostAnswer>> cases() {
        return Map.ofEntries(
                entry("Backfill.INSERT", this::backfill),
                entry("PlanRepository.SETTLE", this::settle),
                entry("PlanRepository.WRITE", this::write),
                entry("PlanningToken.HOLD", this::lead),
                entry("PlanningToken.LET_GO", this::stepDown),
                entry("ScheduleFuture.COVER", () -> changed(Duration.ofHours(1), this::pause, false)),
                entry("ScheduleFuture.END", () -> changed(Duration.ofSeconds(25), this::pause, false)),
                entry("ScheduleFuture.FORGET", () -> changed(Duration.ofSeconds(25), this::edit, null)),
                entry("ScheduleFuture.MOVE_CURSOR", () -> changed(Duration.ofSeconds(25), this::edit, null)),
                entry("ScheduleKeeper.ADAPT", this::adapt),
                entry("ScheduleKeeper.MARK_RULES", this::markRules),
                entry("ScheduleRepository.DELETE", this::delete),
                entry("ScheduleRepository.INSERT", this::insert),
                entry("ScheduleRepository.PAUSE", () -> changed(Duration.ofSeconds(25), this::pause, false)),
                entry("ScheduleRepository.RENEW", this::renew),
                entry("ScheduleRepository.RESUME", this::resume),
                entry("ScheduleRepository.TRIGGER", this::trigger),
                entry("ScheduleRepository.UPDATE", () -> changed(Duration.ofSeconds(25), this::edit, null)));
    }

    private Object pause() {
        return through.schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
    }

    private Object edit() {
        return through.schedules().upsert(PROMISE.payload("second").definition());
    }

    private void covered() {
        Instant cursor = schedule("report").progress().cursor();
        assertThat(Coverage.faults(ledger("report"), List.of(new Coverage.Span(StoreBench.NOON, cursor, TEN_SECONDS))))
                .isEmpty();
    }

    /** A change of a schedule of which a while has passed: the second answer says that it was done before, and every instant has one line. */
    private LostAnswer changed(Duration passed, Callable<?> deed, Object expected) {
        store(PROMISE);
        advance(passed);
        return LostAnswer.of(deed, answer -> {
            if (expected != null) assertThat(answer).isEqualTo(expected);
            else assertThat(answer).isInstanceOf(ScheduleChange.Unchanged.class);
            assertThat(schedule("report").version()).isEqualTo(2);
            covered();
        });
    }

    private LostAnswer write() {
        store(PROMISE);
        advance(Duration.ofHours(2));
        List<TickPlan> plans = List.of(
                PLANNER.plan(schedule("report"), List.of(), bench.clock().now()));
        assertThat(plans.get(0).gaps()).isNotEmpty();
        return LostAnswer.of(() -> through.plans().write(plans), answer -> {
            assertThat(answer).isEqualTo(List.of());
            assertThat(schedule("report").progress().ticks())
                    .isEqualTo(12 + plans.get(0).ticks().size());
            covered();
        });
    }

    /** With everything a plan can hold: new ticks, late ones, and a stretch that nobody planned. */
    private LostAnswer settle() {
        store(PROMISE);
        advance(Duration.ofHours(2));
        List<TickPlan> plans = plans(due());
        TickPlan plan = plans.get(0);
        assertThat(List.of(plan.ticks(), plan.late(), plan.gaps())).noneMatch(List::isEmpty);
        return LostAnswer.of(() -> through.plans().write(plans), answer -> {
            assertThat(answer).isEqualTo(List.of());
            assertThat(schedule("report").progress().ticks())
                    .isEqualTo(12 + plan.ticks().size());
            covered();
        });
    }

    private LostAnswer adapt() {
        store(Promise.of(When.adaptive(Duration.ofSeconds(10), Duration.ofHours(1))));
        advance(Duration.ofSeconds(10));
        return LostAnswer.of(() -> through.plans().followBacklogs(), answer -> {
            assertThat(answer).isEqualTo(0);
            planAll();
            assertThat(lines("report")).containsExactly("12:00:10 waiting", "12:00:25 waiting");
        });
    }

    private LostAnswer markRules() {
        store(Promise.of(When.cron("0 2 * * *", "Europe/Paris")));
        bench.database().execute("UPDATE carillon.schedule SET tzdata = '2000a'");
        return LostAnswer.of(() -> through.plans().followZones(), answer -> {
            assertThat(answer).isEqualTo(0);
            assertThat(schedule("report").version()).isEqualTo(2);
        });
    }

    private LostAnswer insert() {
        return LostAnswer.of(() -> through.schedules().upsert(PROMISE.definition()), answer -> {
            assertThat(answer).isInstanceOf(ScheduleChange.Unchanged.class);
            assertThat(storage().schedules().list(PROJECT)).hasSize(1);
            assertThat(lines("report")).hasSize(12);
        });
    }

    private LostAnswer renew() {
        store(PROMISE);
        return LostAnswer.of(() -> through.schedules().upsert(PROMISE.definition(), id -> "on=behalf\n"), answer -> {
            assertThat(answer).isInstanceOf(ScheduleChange.Unchanged.class);
            assertThat(schedule("report").version()).isOne();
            assertThat(bench.rows().number("SELECT count(*) FROM carillon.schedule WHERE trace = E'on=behalf\\n'"))
                    .isOne();
        });
    }

    private LostAnswer resume() {
        store(PROMISE);
        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        advance(Duration.ofHours(1));
        return LostAnswer.of(() -> through.schedules().resume(PROJECT, "report"), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(schedule("report").paused()).isFalse();
            covered();
        });
    }

    private LostAnswer delete() {
        store(PROMISE);
        advance(Duration.ofSeconds(25));
        return LostAnswer.of(() -> through.schedules().delete(PROJECT, "report"), answer -> {
            assertThat(answer).isEqualTo(false);
            assertThat(storage().schedules().list(PROJECT)).isEmpty();
            assertThat(bench.rows().number("SELECT count(*) FROM carillon.run")).isZero();
            assertThat(bench.rows().number("SELECT count(*) FROM carillon.run_history"))
                    .isEqualTo(2);
        });
    }

    private LostAnswer lead() {
        UUID node = node();
        return LostAnswer.of(() -> through.plans().lead(node, SECOND), answer -> {
            assertThat(answer).isEqualTo(true);
            assertThat(storage().plans().lead(node(), SECOND)).isFalse();
        });
    }

    private LostAnswer stepDown() {
        UUID node = node();
        storage().plans().lead(node, SECOND);
        return LostAnswer.of(
                call(() -> through.plans().stepDown(node)),
                answer -> assertThat(storage().plans().lead(node(), SECOND)).isTrue());
    }

    private LostAnswer backfill() {
        store(PROMISE);
        Instant from = StoreBench.NOON.minusSeconds(30);
        return LostAnswer.of(
                () -> through.schedules().backfill(PROJECT, "report", from, StoreBench.NOON, true), answer -> {
                    assertThat(answer).isEqualTo(0);
                    assertThat(bench.rows().number("SELECT count(*) FROM carillon.run WHERE origin = 'backfill'"))
                            .isEqualTo(4);
                });
    }

    private LostAnswer trigger() {
        store(PROMISE);
        RunId id = RunId.next();
        return LostAnswer.of(() -> through.schedules().trigger(PROJECT, "report", id), answer -> {
            assertThat(answer).isEqualTo(true);
            assertThat(claim(node(), 9)).hasSize(1);
        });
    }
}
