package io.carillon.it.store;

import static io.carillon.it.store.RaceScene.*;
import static io.carillon.it.store.RaceStage.OWNER;
import static io.carillon.it.store.RaceStage.PROJECT;
import static io.carillon.it.store.RaceStage.RATE;
import static io.carillon.it.store.RaceStage.SECOND;
import static io.carillon.it.store.RaceStage.SHOP;
import static io.carillon.it.store.RaceStage.TEN;

import io.carillon.it.store.RaceAnswer.Told;
import io.carillon.it.store.RaceCase.Deed;
import io.carillon.it.store.RaceCase.Hand;
import io.carillon.it.store.RaceCase.Skip;
import io.carillon.run.Transition;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.store.GateName;
import io.carillon.store.GateStore;
import io.carillon.store.Storage;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/** How each writing statement about schedules, gates, tokens and projects is sent in a race; see {@link RaceCases}. */
final class RaceScheduleCases extends RaceStatements {
    private static final RaceScene[] SCHEDULED = {TICKS, LATE_TICKS, PAUSED_SCHEDULE, ADAPTIVE, ZONED};
    private static final RaceScene[] OVERLAPPED = {OVERLAP_SKIP, OVERLAP_QUEUE, OVERLAP_CANCEL};

    RaceScheduleCases() {
        schedules();
        ticks();
        gates();
        add(
                "PlanningToken.HOLD",
                (stage, through, hand) -> through.plans().lead(RaceStage.claimer(hand), SECOND),
                TOKEN,
                EMPTY);
        add(
                "PlanningToken.LET_GO",
                (stage, through, hand) -> done(() -> through.plans().stepDown(RaceStage.OTHER)),
                TOKEN);
        add(
                "PostgresStorage.ENSURE_PROJECT",
                (stage, through, hand) -> done(() -> through.projects().ensure("shop")),
                EMPTY);
    }

    private static Promise promise(RaceScene scene) {
        if (scene == ZONED) return Promise.of(When.cron("* * * * *", "Europe/Paris"));
        return scene == ADAPTIVE ? Promise.of(When.adaptive(TEN, Duration.ofHours(1))) : Promise.every(TEN);
    }

    private static Object upsert(Storage through, Promise promise, String trace) {
        return through.schedules()
                .upsert(promise.definition(), id -> trace)
                .getClass()
                .getSimpleName();
    }

    private void schedules() {
        for (RaceScene scene : SCHEDULED) {
            Promise same = promise(scene);
            add(
                    "ScheduleRepository.RENEW",
                    (stage, through, hand) -> upsert(through, same, "on=" + hand.first() + "\n"),
                    scene);
            Deed edit = (stage, through, hand) -> upsert(through, same.payload("by " + hand.first()), null);
            for (String statement :
                    List.of("ScheduleRepository.UPDATE", "ScheduleFuture.MOVE_CURSOR", "ScheduleFuture.FORGET"))
                add(statement, edit, scene);
        }
        add("ScheduleRepository.INSERT", (stage, through, hand) -> upsert(through, Promise.every(TEN), null), EMPTY);
        Deed pause = (stage, through, hand) -> through.schedules()
                .pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, hand.first() ? "ann" : "bob", null, null));
        add(
                "ScheduleRepository.PAUSE",
                pause,
                TICKS,
                ZONED,
                LATE_TICKS,
                ADAPTIVE,
                OVERLAP_FREE,
                OVERLAP_SKIP,
                OVERLAP_QUEUE,
                OVERLAP_CANCEL_IDLE);
        add("ScheduleFuture.END", pause, TICKS, LATE_TICKS, OVERLAP_FREE, OVERLAP_QUEUE);
        add("ScheduleFuture.COVER", pause, LATE_TICKS);
        Deed resume = (stage, through, hand) -> through.schedules().resume(PROJECT, "report");
        add("ScheduleRepository.RESUME", resume, PAUSED_SCHEDULE);
        add("ScheduleFuture.COVER", resume, PAUSED_SCHEDULE);
        add(
                "ScheduleRepository.DELETE",
                (stage, through, hand) -> through.schedules().delete(PROJECT, "report"),
                SCHEDULED);
        add(
                "ScheduleRepository.DELETE",
                (stage, through, hand) -> through.schedules().delete(PROJECT, "report"),
                OVERLAP_FREE,
                OVERLAP_QUEUE);
        skipping(
                Skip.ROW,
                "ScheduleKeeper.ADAPT",
                (stage, through, hand) -> through.plans().followBacklogs(),
                ADAPTIVE);
        skipping(
                Skip.ROW,
                "ScheduleKeeper.MARK_RULES",
                (stage, through, hand) -> through.plans().followZones(),
                ZONED);
        add(
                "ScheduleRepository.TRIGGER",
                (stage, through, hand) -> through.schedules().trigger(PROJECT, "report", RaceStage.fresh(hand, 0)),
                TICKS,
                PAUSED_SCHEDULE,
                ADAPTIVE,
                OVERLAP_QUEUE);
        add(
                "Backfill.INSERT",
                (stage, through, hand) -> through.schedules()
                        .backfill(PROJECT, "report", StoreBench.NOON.minusSeconds(30), StoreBench.NOON, true),
                TICKS,
                LATE_TICKS,
                PAUSED_SCHEDULE,
                OVERLAP_QUEUE);
        Deed plan = (stage, through, hand) -> through.plans().write(stage.plans(hand)).stream()
                .map(moved -> moved.read().name())
                .sorted()
                .toList();
        skipping(Skip.ROW, "PlanRepository.WRITE", plan, TICKS, ZONED, ADAPTIVE, OVERLAP_FREE);
        skipping(Skip.ROW, "PlanRepository.SETTLE", plan, LATE_TICKS);
    }

    private void ticks() {
        add(
                "DeskRepository.CANCEL_WAITING",
                (stage, through, hand) -> through.runDesk().cancel(PROJECT, stage.tick(0), "enough"),
                TICKS,
                LATE_TICKS,
                OVERLAP_FREE,
                OVERLAP_CANCEL_IDLE);
        add(
                "DeskRepository.CANCEL_WAITING",
                (stage, through, hand) -> through.runDesk().cancel(PROJECT, stage.tick(1), "enough"),
                OVERLAPPED);
        add(
                "DeskRepository.CANCEL_RUNNING",
                (stage, through, hand) -> through.runDesk().cancel(PROJECT, stage.tick(0), "enough"),
                OVERLAPPED);
        ending("Endings.SUCCEED_IN_PLACE", new Transition.Complete(null));
        ending("Endings.DIE", new Transition.Die("no"));
        ending("Endings.AGAIN", new Transition.Retry(TEN, "oops", false));
        skipping(Skip.ROW, "RunRepository.PARK_RUNNING", RaceCases.PARK, OVERLAPPED);
        add(
                "RunRepository.HAND_BACK",
                (stage, through, hand) -> through.runs().handBack(OWNER, stage.attempts(hand)),
                OVERLAPPED);
    }

    private void ending(String statement, Transition transition) {
        add(
                statement,
                (stage, through, hand) -> RaceCases.ended(through, OWNER, stage.ended(hand, transition)),
                OVERLAPPED);
    }

    private void gates() {
        skipping(Skip.ANY, "GateRepository.PASS", pass((stage, hand) -> List.of(SHOP)), GATED, GATE_TAKEN);
        skipping(
                Skip.ROW,
                "GateRepository.ARRIVE",
                (stage, through, hand) ->
                        new Told(texts(through.gates().arrive(10).gates()), true),
                GATED);
        skipping(Skip.ANY, "RateGates.LET_START", pass((stage, hand) -> List.of(RATE)), RATED, LEFTOVERS);
        Deed overlap = pass(RaceStage::gates);
        skipping(Skip.ANY, "OverlapGates.LET_THROUGH", overlap, OVERLAP_FREE);
        skipping(Skip.ANY, "OverlapGates.DROP", overlap, OVERLAP_SKIP);
        skipping(Skip.ANY, "OverlapGates.KEEP_WAITING", overlap, OVERLAP_QUEUE);
        skipping(Skip.ANY, "OverlapGates.CANCEL_RUNNING", overlap, OVERLAP_CANCEL);
        skipping(Skip.ANY, "OverlapGates.CANCEL_IDLE", overlap, OVERLAP_CANCEL_IDLE);
    }

    private interface Gates {
        Collection<GateName> of(RaceStage stage, Hand hand);
    }

    private static Deed pass(Gates gates) {
        return (stage, through, hand) -> {
            GateStore.Passed passed = through.gates().pass(gates.of(stage, hand));
            Set<String> done = texts(passed.lanes());
            done.addAll(texts(passed.skipped()));
            return new Told(done, !passed.busy().isEmpty() || !passed.again().isEmpty());
        };
    }
}
