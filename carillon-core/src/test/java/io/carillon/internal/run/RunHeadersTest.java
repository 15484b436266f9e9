package io.carillon.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Enqueue;
import io.carillon.run.Origin;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.schedule.ScheduleId;
import io.carillon.spi.ContextPropagator;
import io.carillon.spi.RunInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RunHeadersTest {
    private static final RunId RUN = RunId.generate();
    private static final Lane LANE = new Lane("mail", "shop");
    private static final Target SEND = Target.handler("send");
    private static final Payload NOTHING = new Payload(new byte[0], "json");
    private static final ScheduleId SCHEDULE = ScheduleId.generate();

    private final List<RunInfo> seen = new ArrayList<>();
    private final RunHeaders headers = new RunHeaders(List.of(new Named("first"), new Named("second")));

    /** A propagator with one header, which has the name of the propagator. */
    private final class Named implements ContextPropagator {
        private final String name;

        Named(String name) {
            this.name = name;
        }

        @Override
        public Map<String, String> capture(RunInfo run) {
            seen.add(run);
            return Map.of(name, run.id().toString());
        }

        @Override
        public Map<String, String> captureForSchedule(ScheduleId schedule) {
            return Map.of(name, schedule.toString());
        }

        @Override
        public Outcome runWithContext(RunInfo run, Map<String, String> stored, AttemptCall attemptCall)
                throws Exception {
            seen.add(run);
            assertThat(stored).containsOnlyKeys("first", "second");
            return attemptCall.call();
        }
    }

    @Test
    void propagators_see_a_run_that_is_being_enqueued_as_attempt_0() {
        Enqueue.Due now = new Enqueue.Due.After(Duration.ZERO);
        NewRun run = new NewRun(RUN, LANE, Priority.LOW, Origin.DIRECT, SEND, NOTHING, now, null, null, null);

        assertThat(headers.addTo(run).headers()).isEqualTo("first=%s\nsecond=%s\n".formatted(RUN, RUN));
        assertThat(seen)
                .hasSize(2)
                .containsOnly(new RunInfo(RUN, "shop", "mail", SEND, Priority.LOW, Origin.DIRECT, 0, 0, null, null));
    }

    @Test
    void propagators_see_the_attempt_the_schedule_and_the_planned_instant() throws Exception {
        Attempt attempt = new Attempt(
                RUN,
                3,
                LANE,
                Priority.HIGH,
                Origin.TICK,
                SEND,
                NOTHING,
                new Attempt.Times(Instant.EPOCH, Instant.EPOCH),
                new Attempt.Counts(1, 0, 0),
                new Attempt.References(SCHEDULE.value(), headers.forSchedule(SCHEDULE), null, Run.Policy.none()),
                null);

        assertThat(headers.runWithContext(attempt, () -> Outcome.succeeded("x")))
                .isEqualTo(Outcome.succeeded("x"));
        assertThat(seen)
                .hasSize(2)
                .containsOnly(new RunInfo(
                        RUN, "shop", "mail", SEND, Priority.HIGH, Origin.TICK, 3, 1, SCHEDULE, Instant.EPOCH));
    }
}
