package io.carillon.internal.engine.listener;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.RunInfos;
import io.carillon.internal.run.Transition;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.run.TestAttempts;
import io.carillon.schedule.ScheduleId;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RunEventsTest {
    private static final Instant NOON = Instant.parse("2026-05-04T12:00:00Z");
    private static final Duration TOOK = Duration.ofMillis(12);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @Test
    void every_transition_has_its_event() {
        Attempt attempt = TestAttempts.failed(2);
        RunInfo run = RunInfos.of(attempt);
        Map<Transition, RunEvent> events = Map.of(
                new Transition.Complete(null),
                new RunEvent.Succeeded(run, TOOK),
                new Transition.Retry(MINUTE, "no", true),
                new RunEvent.Failed(run, TOOK, "no", true, MINUTE),
                new Transition.MarkDead("no"),
                new RunEvent.Dead(run, TOOK, "no"),
                new Transition.Cancel("by ann"),
                new RunEvent.Cancelled(run, TOOK, "by ann"),
                new Transition.Snooze(MINUTE),
                new RunEvent.Snoozed(run, TOOK, MINUTE),
                new Transition.AwaitCallback(MINUTE, "digest", null),
                new RunEvent.AwaitingCallback(run, TOOK, MINUTE));

        events.forEach((transition, event) ->
                assertThat(RunEvents.ended(attempt, transition, TOOK)).isEqualTo(event));
        assertThat(events.keySet().stream().map(Object::getClass))
                .containsExactlyInAnyOrder(
                        Arrays.stream(Transition.class.getPermittedSubclasses()).toArray(Class<?>[]::new));
        assertThat(events.values().stream().map(Object::getClass))
                .containsExactlyInAnyOrder(Arrays.stream(RunEvent.AttemptEnded.class.getPermittedSubclasses())
                        .toArray(Class<?>[]::new));
    }

    @Test
    void an_event_describes_the_run_of_the_attempt() {
        UUID schedule = UUID.randomUUID();
        Attempt attempt =
                attempt(Origin.TICK, NOON, NOON, new Attempt.References(schedule, null, null, Run.Policy.none()));

        assertThat(RunEvents.started(attempt, Duration.ZERO).run())
                .isEqualTo(new RunInfo(
                        attempt.run(),
                        "shop",
                        "mail",
                        Target.handler("send"),
                        Priority.HIGH,
                        Origin.TICK,
                        3,
                        1,
                        new ScheduleId(schedule),
                        NOON));
        assertThat(RunEvents.started(attempt(Origin.DIRECT, null, NOON, null), Duration.ZERO)
                        .run()
                        .schedule())
                .isNull();
    }

    @Test
    void a_late_tick_has_not_waited_before_it_was_due() {
        Attempt tick = attempt(Origin.TICK, NOON, NOON.plus(Duration.ofHours(3)), null);

        assertThat(RunEvents.started(tick, Duration.ofHours(3).plusSeconds(2)))
                .isEqualTo(new RunEvent.AttemptStarted(
                        RunInfos.of(tick), Duration.ofHours(3).plusSeconds(2), Duration.ofSeconds(2)));
        assertThat(RunEvents.started(tick, Duration.ofHours(2)))
                .isEqualTo(new RunEvent.AttemptStarted(RunInfos.of(tick), Duration.ofHours(2), Duration.ZERO));
    }

    @Test
    void other_runs_are_as_late_as_they_have_waited() {
        for (Attempt attempt : List.of(
                attempt(Origin.DIRECT, null, NOON, null), attempt(Origin.BACKFILL, NOON.minus(MINUTE), NOON, null)))
            assertThat(RunEvents.started(attempt, MINUTE))
                    .isEqualTo(new RunEvent.AttemptStarted(RunInfos.of(attempt), MINUTE, MINUTE));
    }

    private static Attempt attempt(
            Origin origin, @Nullable Instant plannedAt, Instant dueAt, Attempt.@Nullable References references) {
        return new Attempt(
                RunId.generate(),
                3,
                new Lane("mail", "shop"),
                Priority.HIGH,
                origin,
                Target.handler("send"),
                new Payload(new byte[0], "json"),
                new Attempt.Times(plannedAt, dueAt),
                new Attempt.Counts(1, 0, 0),
                references,
                null);
    }
}
