package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.PublicId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

class PoliciesTest {
    private static final When DAILY = When.cron("0 0 * * *", "UTC");

    @Test
    void ship_one_late_run_five_minutes_of_grace_and_a_day_of_catching_up() {
        assertThat(Policies.defaults())
                .isEqualTo(new Policies(
                        Missed.RUN_ONCE,
                        Duration.ofMinutes(5),
                        Duration.ofHours(24),
                        new Policies.RunAll(100, Duration.ZERO),
                        Overlap.ALLOW,
                        null));
    }

    @Test
    void change_one_thing_at_a_time() {
        Policies changed = Policies.defaults()
                .missed(Missed.SKIP)
                .grace(Duration.ofHours(1))
                .catchUp(Duration.ZERO)
                .runAll(new Policies.RunAll(7, Duration.ofSeconds(3)))
                .overlap(Overlap.SKIP)
                .pauseAfter(5);

        assertThat(changed)
                .isEqualTo(new Policies(
                        Missed.SKIP,
                        Duration.ofHours(1),
                        Duration.ZERO,
                        new Policies.RunAll(7, Duration.ofSeconds(3)),
                        Overlap.SKIP,
                        5));
    }

    @Test
    void refuse_windows_that_make_no_sense() {
        assertThat(code(() -> Policies.defaults().grace(Duration.ofSeconds(-1))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Policies.defaults().grace(Duration.ofDays(367)))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Policies.defaults().catchUp(Duration.ofSeconds(-1))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Policies.defaults().catchUp(Duration.ofSeconds(Long.MAX_VALUE))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
    }

    @Test
    void refuse_caps_spreads_and_pauses_that_make_no_sense() {
        assertThat(code(() -> new Policies.RunAll(0, Duration.ZERO))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> new Policies.RunAll(1_001, Duration.ZERO))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> new Policies.RunAll(1, Duration.ofSeconds(-1)))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> new Policies.RunAll(1, Duration.ofHours(2)))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Policies.defaults().pauseAfter(0))).isEqualTo(ErrorCode.INVALID_OPTION);
    }

    @Test
    void refuse_a_grace_in_which_nobody_could_start() {
        assertThat(code(() -> Policies.defaults().grace(Duration.ZERO))).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(code(() -> Policies.defaults().grace(Duration.ofMillis(999))))
                .isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(Policies.defaults().grace(Duration.ofSeconds(1)).grace()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void a_definition_is_the_same_promise_when_all_its_parts_are() {
        Definition one = Plans.definition(DAILY, Policies.defaults());

        assertThat(one).isEqualTo(Plans.definition(DAILY, Policies.defaults()));
        assertThat(one).hasSameHashCodeAs(Plans.definition(DAILY, Policies.defaults()));
        assertThat(one).isNotEqualTo(Plans.definition(DAILY, Policies.defaults().missed(Missed.SKIP)));
        assertThat(one.what()).isNotEqualTo(other("other", 1, "{}"));
        assertThat(one.what()).isNotEqualTo(other("default", 2, "{}"));
        assertThat(one.what()).isNotEqualTo(other("default", 1, "{ }"));
        assertThat(one.what()).isEqualTo(other("default", 1, "{}"));
    }

    @Test
    void a_definition_shows_no_payload() {
        assertThat(other("default", 1, "{\"card\":\"4111\"}").toString())
                .doesNotContain("4111")
                .contains("report");
    }

    @Test
    void a_definition_has_proper_names() {
        assertThat(code(() -> new Definition("P", "n", DAILY, Plans.what(), Policies.defaults())))
                .isEqualTo(ErrorCode.INVALID_NAME);
        assertThat(code(() -> new Definition("p", "n n", DAILY, Plans.what(), Policies.defaults())))
                .isEqualTo(ErrorCode.INVALID_NAME);
        assertThat(code(() -> other("Q", 1, "{}"))).isEqualTo(ErrorCode.INVALID_NAME);
    }

    @Test
    void a_schedule_id_is_shown_with_its_kind() {
        ScheduleId id = ScheduleId.next();

        assertThat(PublicId.parse("sched", id.toString())).isEqualTo(id.value());
        assertThat(ScheduleId.next()).isNotEqualTo(id);
    }

    @Test
    void a_schedule_knows_whether_it_is_paused() {
        Schedule runs = Plans.schedule(DAILY, Policies.defaults(), Instant.EPOCH);
        Schedule paused = new Schedule(
                runs.id(),
                1,
                runs.definition(),
                runs.progress(),
                new Schedule.Pause(Instant.EPOCH, "ann", "audit", null));

        assertThat(runs.paused()).isFalse();
        assertThat(paused.paused()).isTrue();
        assertThat(paused.name()).isEqualTo("report");
    }

    @Test
    @ResourceLock(Resources.LOCALE)
    void words_on_the_wire_read_back_in_every_locale() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("tr-TR"));

            assertThat(Missed.values()).allMatch(one -> Missed.of(one.text()) == one);
            assertThat(Overlap.values()).allMatch(one -> Overlap.of(one.text()) == one);
            assertThat(Missed.SKIP.text()).isEqualTo("skip");
            assertThat(Overlap.CANCEL_PREVIOUS.text()).isEqualTo("cancel-previous");
        } finally {
            Locale.setDefault(before);
        }
    }

    private static Definition.What other(String queue, int priority, String payload) {
        return new Definition.What(
                queue, priority, "handler", "report", payload.getBytes(StandardCharsets.UTF_8), "json");
    }

    private static ErrorCode code(ThrowingCallable call) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, call);
        return refusal == null ? null : refusal.code();
    }
}
