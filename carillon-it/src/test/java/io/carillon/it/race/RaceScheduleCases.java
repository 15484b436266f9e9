package io.carillon.it.race;

import static io.carillon.internal.store.schedule.PlanStore.ZonePosition.START;
import static io.carillon.it.race.RaceFixture.OWNER;
import static io.carillon.it.race.RaceFixture.PROJECT;
import static io.carillon.it.race.RaceFixture.RATE;
import static io.carillon.it.race.RaceFixture.SECOND;
import static io.carillon.it.race.RaceFixture.SHOP;
import static io.carillon.it.race.RaceFixture.TEN;
import static io.carillon.it.race.RaceSetup.*;

import io.carillon.internal.run.Transition;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.GateStore;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.it.race.RaceAnswer.ExplicitAnswer;
import io.carillon.it.race.RaceCase.Sender;
import io.carillon.it.race.RaceCase.Skip;
import io.carillon.it.race.RaceCase.StatementCall;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/** How each writing statement about schedules, gates, tokens and projects is sent in a race; see {@link RaceCases}. */
final class RaceScheduleCases extends RaceCaseList {
    private static final RaceSetup[] SCHEDULED = {TICKS, LATE_TICKS, PAUSED_SCHEDULE, ADAPTIVE, ZONED};
    private static final RaceSetup[] OVERLAPPED = {OVERLAP_SKIP, OVERLAP_QUEUE, OVERLAP_CANCEL};

    RaceScheduleCases() {
        schedules();
        ticks();
        gates();
        add(
                "LeaderToken.ACQUIRE",
                (fixture, through, sender) -> through.plans().acquireToken(RaceFixture.claimer(sender), SECOND),
                TOKEN,
                EMPTY);
        add(
                "LeaderToken.RELEASE",
                (fixture, through, sender) -> done(() -> through.plans().releaseToken(RaceFixture.OTHER)),
                TOKEN);
        add(
                "PostgresStorage.ENSURE_PROJECT",
                (fixture, through, sender) -> done(() -> through.projects().ensure("shop")),
                EMPTY);
    }

    private static ScheduleSpec scheduleSpec(RaceSetup setup) {
        if (setup == ZONED) return ScheduleSpec.of(When.cron("* * * * *", "Europe/Paris"));
        return setup == ADAPTIVE ? ScheduleSpec.of(When.adaptive(TEN, Duration.ofHours(1))) : ScheduleSpec.every(TEN);
    }

    private static Object upsert(Storage through, ScheduleSpec spec, String trace) {
        return through.schedules()
                .upsert(spec.definition(), id -> trace)
                .getClass()
                .getSimpleName();
    }

    private void schedules() {
        for (RaceSetup setup : SCHEDULED) {
            ScheduleSpec same = scheduleSpec(setup);
            add(
                    "ScheduleRepository.UPDATE_HEADERS",
                    (fixture, through, sender) -> upsert(through, same, "on=" + sender.first() + "\n"),
                    setup);
            StatementCall edit =
                    (fixture, through, sender) -> upsert(through, same.payload("by " + sender.first()), null);
            for (String statement : List.of(
                    "ScheduleRepository.UPDATE", "UnstartedTicks.MOVE_CURSOR", "UnstartedTicks.DELETE_AFTER_CUTOFF"))
                add(statement, edit, setup);
        }
        add("NewSchedules.CREATE", (fixture, through, sender) -> upsert(through, ScheduleSpec.every(TEN), null), EMPTY);
        StatementCall pause = (fixture, through, sender) -> through.schedules()
                .pause(
                        PROJECT,
                        "report",
                        new Schedule.Pause(Instant.EPOCH, sender.first() ? "ann" : "bob", null, null));
        add(
                "SchedulePauses.PAUSE",
                pause,
                TICKS,
                ZONED,
                LATE_TICKS,
                ADAPTIVE,
                OVERLAP_FREE,
                OVERLAP_SKIP,
                OVERLAP_QUEUE,
                OVERLAP_CANCEL_IDLE);
        add("UnstartedTicks.END_UNSTARTED", pause, TICKS, LATE_TICKS, OVERLAP_FREE, OVERLAP_QUEUE);
        add("UnstartedTicks.INSERT_GAP", pause, LATE_TICKS);
        StatementCall resume = (fixture, through, sender) -> through.schedules().resume(PROJECT, "report");
        add("ScheduleRepository.RESUME", resume, PAUSED_SCHEDULE);
        add("UnstartedTicks.INSERT_GAP", resume, PAUSED_SCHEDULE);
        add(
                "ScheduleRepository.DELETE",
                (fixture, through, sender) -> through.schedules().delete(PROJECT, "report"),
                SCHEDULED);
        add(
                "ScheduleRepository.DELETE",
                (fixture, through, sender) -> through.schedules().delete(PROJECT, "report"),
                OVERLAP_FREE,
                OVERLAP_QUEUE);
        skipping(
                Skip.ROW,
                "ScheduleMaintenance.ADAPT",
                (fixture, through, sender) -> through.plans().adaptIntervals(),
                ADAPTIVE);
        skipping(
                Skip.ROW,
                "ScheduleMaintenance.UPDATE_TZDATA",
                (fixture, through, sender) ->
                        through.plans().replanChangedZones(START).replanned(),
                ZONED);
        add(
                "ScheduleRepository.TRIGGER",
                (fixture, through, sender) ->
                        through.schedules().trigger(PROJECT, "report", RaceFixture.newRunId(sender, 0)),
                TICKS,
                PAUSED_SCHEDULE,
                ADAPTIVE,
                OVERLAP_QUEUE);
        add(
                "Backfill.INSERT",
                (fixture, through, sender) -> through.schedules()
                        .backfill(PROJECT, "report", StoreFixture.NOON.minusSeconds(30), StoreFixture.NOON, true),
                TICKS,
                LATE_TICKS,
                PAUSED_SCHEDULE,
                OVERLAP_QUEUE);
        StatementCall plan = (fixture, through, sender) -> through.plans().write(fixture.plans(sender)).stream()
                .map(moved -> moved.schedule().name())
                .sorted()
                .toList();
        skipping(Skip.ROW, "PlanRepository.WRITE", plan, TICKS, ZONED, ADAPTIVE, OVERLAP_FREE);
        skipping(Skip.ROW, "PlanRepository.RESOLVE_MISSED", plan, LATE_TICKS);
    }

    private void ticks() {
        add(
                "RunAdminRepository.CANCEL_WAITING",
                (fixture, through, sender) -> through.runAdmin().cancel(PROJECT, fixture.tick(0), "enough"),
                TICKS,
                LATE_TICKS,
                OVERLAP_FREE,
                OVERLAP_CANCEL_IDLE);
        add(
                "RunAdminRepository.CANCEL_WAITING",
                (fixture, through, sender) -> through.runAdmin().cancel(PROJECT, fixture.tick(1), "enough"),
                OVERLAPPED);
        add(
                "RunAdminRepository.CANCEL_RUNNING",
                (fixture, through, sender) -> through.runAdmin().cancel(PROJECT, fixture.tick(0), "enough"),
                OVERLAPPED);
        ending("AttemptEndings.SUCCEED_IN_PLACE", new Transition.Complete(null));
        ending("AttemptEndings.DIE", new Transition.MarkDead("no"));
        ending("AttemptEndings.RETRY", new Transition.Retry(TEN, "oops", false));
        skipping(Skip.ROW, "RunRepository.PARK_RUNNING", RaceCases.PARK, OVERLAPPED);
        add(
                "RunRepository.HAND_BACK",
                (fixture, through, sender) -> through.runs().handBack(OWNER, fixture.attempts(sender)),
                OVERLAPPED);
    }

    private void ending(String statement, Transition transition) {
        add(
                statement,
                (fixture, through, sender) -> RaceCases.ended(through, OWNER, fixture.ended(sender, transition)),
                OVERLAPPED);
    }

    private void gates() {
        skipping(Skip.ANY, "GateRepository.PASS", pass((fixture, sender) -> List.of(SHOP)), GATED, GATE_TAKEN);
        skipping(
                Skip.ROW,
                "GateRepository.MARK_ARRIVED",
                (fixture, through, sender) -> new ExplicitAnswer(
                        texts(through.gates().findArrivals(10).gates()), true),
                GATED);
        skipping(Skip.ANY, "RateGates.PASS", pass((fixture, sender) -> List.of(RATE)), RATED, LEFTOVERS);
        StatementCall overlap = pass(RaceFixture::gates);
        skipping(Skip.ANY, "OverlapGates.PASS", overlap, OVERLAP_FREE);
        skipping(Skip.ANY, "OverlapGates.DROP", overlap, OVERLAP_SKIP);
        skipping(Skip.ANY, "OverlapGates.KEEP_WAITING", overlap, OVERLAP_QUEUE);
        skipping(Skip.ANY, "OverlapGates.CANCEL_RUNNING", overlap, OVERLAP_CANCEL);
        skipping(Skip.ANY, "OverlapGates.CANCEL_IDLE", overlap, OVERLAP_CANCEL_IDLE);
    }

    private interface Gates {
        Collection<GateName> of(RaceFixture fixture, Sender sender);
    }

    private static StatementCall pass(Gates gates) {
        return (fixture, through, sender) -> {
            GateStore.PromotionResult promotionResult = through.gates().promote(gates.of(fixture, sender));
            Set<String> done = texts(promotionResult.lanes());
            done.addAll(texts(promotionResult.skipped()));
            return new ExplicitAnswer(
                    done,
                    !promotionResult.busy().isEmpty()
                            || !promotionResult.retryAfter().isEmpty());
        };
    }
}
