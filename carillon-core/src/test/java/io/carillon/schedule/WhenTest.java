package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.CarillonException;
import io.carillon.CronSyntaxException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.TextCleaner;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WhenTest {
    private static final Instant NEW_YEAR = Instant.parse("2026-01-01T00:00:00Z");
    private static final ZonedDateTime START = NEW_YEAR.atZone(ZoneOffset.UTC);

    @Test
    void bounds_are_inclusive_at_both_ends() {
        When hourly = When.cron("0 * * * *", "UTC").from(at("05:00")).until(at("07:00"));

        assertThat(hourly.next(NEW_YEAR)).contains(at("05:00"));
        assertThat(hourly.next(at("05:00"))).contains(at("06:00"));
        assertThat(hourly.next(at("06:59"))).contains(at("07:00"));
        assertThat(hourly.next(at("07:00"))).isEmpty();
        assertThat(When.cron("0 * * * *", "UTC")
                        .until(at("07:00").minusNanos(1))
                        .next(at("06:30")))
                .isEmpty();
    }

    @Test
    void one_instant_may_be_start_and_end() {
        When once = When.cron("0 * * * *", "UTC").from(at("05:00")).until(at("05:00"));

        assertThat(once.next(NEW_YEAR)).contains(at("05:00"));
        assertThat(once.next(at("05:00"))).isEmpty();
    }

    @Test
    void fires_on_no_excluded_date_of_its_own_zone() {
        When hourly = When.cron("0 * * * *", "America/New_York").except(LocalDate.parse("2026-01-01"));

        assertThat(hourly.next(NEW_YEAR)).contains(at("01:00"));
        assertThat(hourly.next(at("04:00"))).contains(Instant.parse("2026-01-02T05:00:00Z"));
        assertThat(hourly.nextIncludingExcluded(at("04:00"))).contains(at("05:00"));
        assertThat(hourly.excludes(at("05:00"))).isTrue();
        assertThat(hourly.excludes(at("04:59"))).isFalse();
        assertThat(When.once(at("05:00")).except(LocalDate.parse("2026-01-01")).next(NEW_YEAR))
                .isEmpty();
    }

    @Test
    void a_preview_continues_after_excluded_dates_up_to_max_runs() {
        When hourly =
                When.cron("0 */6 * * *", "UTC").except(LocalDate.parse("2026-01-01"), LocalDate.parse("2026-01-03"));

        assertThat(hourly.preview(NEW_YEAR, 6).entries())
                .extracting(entry -> entry.utc().toString().substring(5, 13))
                .containsExactly("01-02T00", "01-02T06", "01-02T12", "01-02T18", "01-04T00", "01-04T06");
        assertThat(hourly.maxRuns(2).preview(NEW_YEAR, 6).entries()).hasSize(2);
        assertThat(hourly.until(Instant.parse("2026-01-02T06:00:00Z"))
                        .preview(NEW_YEAR, 6)
                        .entries())
                .hasSize(2);
    }

    @Test
    void once_fires_only_once() {
        When once = When.once(at("05:00"));

        assertThat(once.next(NEW_YEAR)).contains(at("05:00"));
        assertThat(once.next(at("05:00"))).isEmpty();
        assertThat(once.next(at("06:00"))).isEmpty();
        assertThat(once.zone()).isEqualTo(ZoneOffset.UTC);
    }

    @Test
    void the_calendar_ends_with_the_year_9999() {
        Instant last = Instant.parse("9999-12-31T23:59:59Z");

        assertThat(When.once(last).next(NEW_YEAR)).contains(last);
        assertThat(When.once(last.plusSeconds(1)).next(NEW_YEAR)).isEmpty();
        assertThat(When.cron("0 0 * * *", "UTC").next(Instant.parse("9999-12-31T12:00:00Z")))
                .isEmpty();
        assertThat(When.every(1, ChronoUnit.YEARS, START).next(Instant.parse("9998-06-01T00:00:00Z")))
                .contains(Instant.parse("9999-01-01T00:00:00Z"));
        assertThat(When.every(1, ChronoUnit.YEARS, START).next(Instant.parse("9999-06-01T00:00:00Z")))
                .isEmpty();
        assertThat(When.every(Duration.ofSeconds(1)).next(last)).isEmpty();
        assertThat(When.every(Duration.ofSeconds(1)).next(Instant.MAX)).isEmpty();
    }

    @Test
    void instants_of_a_plain_period_are_multiples_since_the_epoch() {
        When every = When.every(Duration.ofSeconds(90));

        assertThat(every.next(NEW_YEAR))
                .hasValueSatisfying(
                        next -> assertThat(next.getEpochSecond() % 90).isZero());
        assertThat(every).isEqualTo(When.every(90, ChronoUnit.SECONDS, Instant.EPOCH.atZone(ZoneOffset.UTC)));
    }

    @Test
    void equal_arguments_make_equal_values() {
        Supplier<When> when = () -> When.cron("0 2 * * *", "Europe/Paris")
                .dst(new DstPolicy(DstPolicy.Gap.SKIP, DstPolicy.Repeat.BOTH))
                .from(NEW_YEAR)
                .until(at("12:00"))
                .jitter(Duration.ofMinutes(1));

        assertThat(when.get()).isEqualTo(when.get()).hasSameHashCodeAs(when.get());
        assertThat(when.get()).isNotEqualTo(when.get().jitter(Duration.ofMinutes(2)));
        assertThat(when.get().zone()).isEqualTo(ZoneId.of("Europe/Paris"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "* * * *", "61 * * * *", "* * * * * * *", "0 0 32 1 *", "0 0 * * MOO", "a\0b"})
    void refuses_invalid_cron_expressions_with_a_code(String text) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, () -> When.cron(text, "UTC"));

        assertThat(refusal).as("'%s' is accepted as a cron expression", text).isNotNull();
        assertThat(refusal.code()).isEqualTo(ErrorCode.CRON_SYNTAX);
        assertThat(refusal).hasMessageContaining("position").hasCauseInstanceOf(CronSyntaxException.class);
        assertThat(TextCleaner.isClean(refusal.getMessage())).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Mars/Olympus", "europe/paris", "a\0b", "UTC+25", "\uD800"})
    void refuses_unknown_zones(String zone) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, () -> When.cron("0 0 * * *", zone));

        assertThat(refusal).as("'%s' is accepted as a zone", zone).isNotNull();
        assertThat(refusal.code()).isEqualTo(ErrorCode.UNKNOWN_ZONE);
        assertThat(TextCleaner.isClean(refusal.getMessage())).isTrue();
        assertThat(When.zone("Europe/Paris")).isEqualTo(ZoneId.of("Europe/Paris"));
    }

    @Test
    void refuses_a_very_long_zone_name_with_a_short_message() {
        CarillonException refusal =
                catchThrowableOfType(CarillonException.class, () -> When.zone("Z".repeat(1_000_000)));

        assertThat(refusal.getMessage()).hasSizeLessThan(300);
    }

    @Test
    void refuses_options_outside_their_ranges_with_a_code() {
        When daily = When.cron("0 0 * * *", "UTC");
        List<Supplier<?>> absurd = List.of(
                () -> daily.jitter(Duration.ofNanos(-1)),
                () -> daily.jitter(Duration.ofDays(1).plusNanos(1)),
                () -> daily.from(at("05:00")).until(at("04:59")),
                () -> daily.from(Instant.MAX),
                () -> daily.until(Instant.MAX),
                () -> daily.from(Instant.MIN),
                () -> daily.until(Instant.parse("+10000-01-01T00:00:00Z")),
                () -> daily.from(Instant.parse("-0001-01-01T00:00:00Z")),
                () -> When.every(Duration.ZERO),
                () -> When.every(Duration.ofSeconds(-1)),
                () -> When.every(Duration.ofMillis(1_500)),
                () -> When.every(Duration.ofSeconds(Long.MAX_VALUE)),
                () -> When.every(0, ChronoUnit.DAYS, START),
                () -> When.every(-3, ChronoUnit.DAYS, START),
                () -> When.every(1, ChronoUnit.FOREVER, START),
                () -> When.every(1, ChronoUnit.MILLIS, START),
                () -> When.every(Long.MAX_VALUE, ChronoUnit.DAYS, START),
                () -> When.every(1, ChronoUnit.DAYS, START.withYear(-9_999)),
                () -> daily.maxRuns(0),
                () -> daily.except(LocalDate.MAX),
                () -> daily.except(Stream.iterate(LocalDate.EPOCH, date -> date.plusDays(1))
                        .limit(1_001)
                        .toList()),
                () -> daily.preview(NEW_YEAR, 0),
                () -> daily.preview(NEW_YEAR, 1_001),
                () -> When.once(at("05:00")).preview(NEW_YEAR, 0));

        for (int i = 0; i < absurd.size(); i++) {
            CarillonException refusal = catchThrowableOfType(CarillonException.class, absurd.get(i)::get);
            assertThat(refusal).as("case %d is accepted", i).isNotNull();
            assertThat(refusal.code()).as("case %d", i).isEqualTo(ErrorCode.INVALID_OPTION);
        }
    }

    @Test
    void a_preview_shows_exactly_what_next_will_plan() {
        List<When> all = List.of(
                When.cron("30 2 * * *", "Europe/Berlin"),
                When.cron("30 2 * * *", "Europe/Berlin").until(Instant.parse("2026-01-03T01:30:00Z")),
                When.cron("0 * * * *", "UTC").from(at("05:00")).until(at("07:00")),
                When.every(6, ChronoUnit.HOURS, START).from(at("07:00")),
                When.every(1, ChronoUnit.DAYS, START).until(at("00:00")),
                When.once(at("05:00")),
                When.once(at("05:00")).until(at("04:00")));

        for (When when : all) {
            List<Instant> planned = new java.util.ArrayList<>();
            Instant after = NEW_YEAR.minusSeconds(1);
            for (int i = 0; i < 5; i++) {
                var next = when.next(after);
                if (next.isEmpty()) break;
                after = next.get();
                planned.add(after);
            }

            Preview preview = when.preview(NEW_YEAR.minusSeconds(1), 5);

            assertThat(preview.entries().stream().filter(Preview.Entry::willRun).map(Preview.Entry::utc))
                    .as(when.toString())
                    .containsExactlyElementsOf(planned);
        }
    }

    @Test
    void describes_itself() {
        assertThat(When.cron("0 2 * * *", "Europe/Paris").describe()).contains("(Europe/Paris)");
        assertThat(When.every(Duration.ofSeconds(90)).describe()).contains("90 seconds");
        assertThat(When.once(at("05:00")).describe()).isEqualTo("once at 2026-01-01T05:00:00Z");
    }

    private static Instant at(String time) {
        return Instant.parse("2026-01-01T" + time + ":00Z");
    }
}
