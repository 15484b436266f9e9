package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.PublicId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

class SchedulePoliciesTest {
    private static final When DAILY = When.cron("0 0 * * *", "UTC");

    @Test
    void defaults_are_one_late_run_five_minutes_of_grace_and_a_day_of_catch_up() {
        assertThat(SchedulePolicies.defaults())
                .isEqualTo(new SchedulePolicies(
                        MissedPolicy.RUN_ONCE,
                        Duration.ofMinutes(5),
                        Duration.ofHours(24),
                        new SchedulePolicies.RunAllLimits(100, Duration.ZERO),
                        OverlapPolicy.ALLOW,
                        null));
    }

    @Test
    void changing_a_policy_keeps_the_others() {
        SchedulePolicies changed = SchedulePolicies.defaults()
                .missed(MissedPolicy.SKIP)
                .grace(Duration.ofHours(1))
                .catchUp(Duration.ZERO)
                .runAll(new SchedulePolicies.RunAllLimits(7, Duration.ofSeconds(3)))
                .overlap(OverlapPolicy.SKIP)
                .pauseAfter(5);

        assertThat(changed)
                .isEqualTo(new SchedulePolicies(
                        MissedPolicy.SKIP,
                        Duration.ofHours(1),
                        Duration.ZERO,
                        new SchedulePolicies.RunAllLimits(7, Duration.ofSeconds(3)),
                        OverlapPolicy.SKIP,
                        5));
    }

    @Test
    void refuse_invalid_windows() {
        assertThat(code(() -> SchedulePolicies.defaults().grace(Duration.ofSeconds(-1))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> SchedulePolicies.defaults().grace(Duration.ofDays(367))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> SchedulePolicies.defaults().catchUp(Duration.ofSeconds(-1))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> SchedulePolicies.defaults().catchUp(Duration.ofSeconds(Long.MAX_VALUE))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
    }

    @Test
    void refuse_invalid_caps_spreads_and_pauses() {
        assertThat(code(() -> new SchedulePolicies.RunAllLimits(0, Duration.ZERO)))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> new SchedulePolicies.RunAllLimits(1_001, Duration.ZERO)))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> new SchedulePolicies.RunAllLimits(1, Duration.ofSeconds(-1))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> new SchedulePolicies.RunAllLimits(1, Duration.ofHours(2))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> SchedulePolicies.defaults().pauseAfter(0))).isEqualTo(ErrorCode.INVALID_OPTION);
    }

    @Test
    void refuse_a_grace_that_is_too_short() {
        assertThat(code(() -> SchedulePolicies.defaults().grace(Duration.ZERO))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> SchedulePolicies.defaults().grace(Duration.ofMillis(999))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(SchedulePolicies.defaults().grace(Duration.ofSeconds(1)).grace())
                .isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void definitions_with_equal_parts_are_equal() {
        ScheduleDefinition one = TestSchedules.definition(DAILY, SchedulePolicies.defaults());

        assertThat(one).isEqualTo(TestSchedules.definition(DAILY, SchedulePolicies.defaults()));
        assertThat(one).hasSameHashCodeAs(TestSchedules.definition(DAILY, SchedulePolicies.defaults()));
        assertThat(one)
                .isNotEqualTo(TestSchedules.definition(
                        DAILY, SchedulePolicies.defaults().missed(MissedPolicy.SKIP)));
        assertThat(one.template()).isNotEqualTo(other("other", 1, "{}"));
        assertThat(one.template()).isNotEqualTo(other("default", 2, "{}"));
        assertThat(one.template()).isNotEqualTo(other("default", 1, "{ }"));
        assertThat(one.template()).isEqualTo(other("default", 1, "{}"));
    }

    @Test
    void a_definition_shows_no_payload() {
        assertThat(other("default", 1, "{\"card\":\"4111\"}").toString())
                .doesNotContain("4111")
                .contains("report");
    }

    @Test
    void a_definition_has_proper_names() {
        assertThat(code(() -> new ScheduleDefinition(
                        "P", "n", DAILY, TestSchedules.runTemplate(), SchedulePolicies.defaults())))
                .isEqualTo(ErrorCode.INVALID_NAME);
        assertThat(code(() -> new ScheduleDefinition(
                        "p", "n n", DAILY, TestSchedules.runTemplate(), SchedulePolicies.defaults())))
                .isEqualTo(ErrorCode.INVALID_NAME);
        assertThat(code(() -> other("Q", 1, "{}"))).isEqualTo(ErrorCode.INVALID_NAME);
    }

    @Test
    void a_schedule_id_is_shown_with_its_kind() {
        ScheduleId id = ScheduleId.generate();

        assertThat(PublicId.parse("sched", id.toString())).isEqualTo(id.value());
        assertThat(ScheduleId.generate()).isNotEqualTo(id);
    }

    @Test
    void a_schedule_knows_whether_it_is_paused() {
        Schedule runs = TestSchedules.schedule(DAILY, SchedulePolicies.defaults(), Instant.EPOCH);
        Schedule paused = new Schedule(
                runs.id(),
                1,
                runs.definition(),
                runs.planningState(),
                new Schedule.Pause(Instant.EPOCH, "ann", "audit", null));

        assertThat(runs.isPaused()).isFalse();
        assertThat(paused.isPaused()).isTrue();
        assertThat(paused.name()).isEqualTo("report");
    }

    @Test
    @ResourceLock(Resources.LOCALE)
    void enum_texts_parse_back_in_every_locale() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("tr-TR"));

            assertThat(MissedPolicy.values()).allMatch(one -> MissedPolicy.of(one.text()) == one);
            assertThat(OverlapPolicy.values()).allMatch(one -> OverlapPolicy.of(one.text()) == one);
            assertThat(MissedPolicy.SKIP.text()).isEqualTo("skip");
            assertThat(OverlapPolicy.CANCEL_PREVIOUS.text()).isEqualTo("cancel-previous");
        } finally {
            Locale.setDefault(before);
        }
    }

    private static ScheduleDefinition.RunTemplate other(String queue, int priority, String payload) {
        return new ScheduleDefinition.RunTemplate(
                queue, priority, "handler", "report", payload.getBytes(StandardCharsets.UTF_8), "json");
    }

    private static ErrorCode code(ThrowingCallable call) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, call);
        return refusal == null ? null : refusal.code();
    }
}
