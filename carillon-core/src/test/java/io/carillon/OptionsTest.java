package io.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.SchedulePolicies;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class OptionsTest {
    @Test
    void handler_defaults_are_fifteen_minutes_and_eight_attempts() {
        HandlerOptions defaults = HandlerOptions.defaults();

        assertThat(defaults.queue()).isNull();
        assertThat(defaults.priority()).isEqualTo(Priority.NORMAL);
        assertThat(defaults.timeout()).isEqualTo(Duration.ofMinutes(15));
        assertThat(defaults.retry()).isEqualTo(Retry.defaults());
        assertThat(defaults.retry().attempts()).isEqualTo(8);
        assertThat(defaults.noRetryOn()).isEmpty();
        assertThat(defaults.keepPayload()).isFalse();
    }

    @Test
    void changing_a_handler_option_keeps_the_others() {
        HandlerOptions all = HandlerOptions.defaults()
                .queue("mail")
                .priority(Priority.LOW)
                .timeout(Duration.ofMinutes(2))
                .retry(Retry.none())
                .noRetryOn(IOException.class)
                .keepPayload(true)
                .noRetryOn(IllegalStateException.class, IllegalArgumentException.class);

        assertThat(all.queue()).isEqualTo("mail");
        assertThat(all.priority()).isEqualTo(Priority.LOW);
        assertThat(all.timeout()).isEqualTo(Duration.ofMinutes(2));
        assertThat(all.retry()).isEqualTo(Retry.none());
        assertThat(all.noRetryOn())
                .isEqualTo(List.of(IOException.class, IllegalStateException.class, IllegalArgumentException.class));
        assertThat(all.keepPayload()).isTrue();
    }

    @Test
    void changing_a_schedule_option_keeps_the_others() {
        ScheduleOptions all = ScheduleOptions.defaults()
                .missed(MissedPolicy.SKIP)
                .overlap(OverlapPolicy.SKIP)
                .grace(Duration.ofMinutes(1))
                .catchUp(Duration.ofHours(1))
                .missedCap(7)
                .pauseAfter(3)
                .missedSpread(Duration.ofSeconds(2))
                .queue("reports")
                .priority(Priority.BULK);

        assertThat(all.policies())
                .isEqualTo(new SchedulePolicies(
                        MissedPolicy.SKIP,
                        Duration.ofMinutes(1),
                        Duration.ofHours(1),
                        new SchedulePolicies.RunAllLimits(7, Duration.ofSeconds(2)),
                        OverlapPolicy.SKIP,
                        3));
        assertThat(all.queue()).isEqualTo("reports");
        assertThat(all.priority()).isEqualTo(Priority.BULK);
    }

    @Test
    void refuses_values_outside_their_ranges() {
        HandlerOptions handler = HandlerOptions.defaults();
        ScheduleOptions schedule = ScheduleOptions.defaults();
        Duration endless = Duration.ofSeconds(Long.MAX_VALUE);

        refused(ErrorCode.INVALID_OPTION, () -> handler.timeout(Duration.ZERO));
        refused(ErrorCode.INVALID_OPTION, () -> handler.timeout(Duration.ofSeconds(-1)));
        refused(ErrorCode.INVALID_OPTION, () -> handler.timeout(Duration.ofDays(31)));
        refused(ErrorCode.INVALID_OPTION, () -> handler.timeout(endless));
        refused(ErrorCode.INVALID_NAME, () -> handler.queue("Mail"));
        refused(ErrorCode.INVALID_NAME, () -> schedule.queue("a b"));
        refused(ErrorCode.INVALID_OPTION, () -> schedule.grace(Duration.ZERO));
        refused(ErrorCode.INVALID_OPTION, () -> schedule.catchUp(endless));
        refused(ErrorCode.INVALID_OPTION, () -> schedule.missedCap(0));
        refused(ErrorCode.INVALID_OPTION, () -> schedule.missedSpread(endless));
    }

    private static void refused(ErrorCode code, Supplier<?> option) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, option::get);
        assertThat(refusal).isNotNull();
        assertThat(refusal.code()).isEqualTo(code);
    }
}
