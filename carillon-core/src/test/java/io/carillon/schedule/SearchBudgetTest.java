package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Years;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The work of a preview is bounded, whatever the expression and the excluded dates are. */
class SearchBudgetTest {
    private static final Instant AFTER = Instant.parse("2026-03-01T00:00:00Z");
    private static final Duration LONG = Duration.ofMinutes(10);

    private static List<LocalDate> dates(int every) {
        return Stream.iterate(LocalDate.parse("2026-03-02"), date -> date.plusDays(every))
                .limit(1_000)
                .toList();
    }

    @Test
    void excluded_dates_in_a_row_cost_two_steps_however_dense_the_expression_is() {
        When everySecond = When.cron("* * * * * *", "Europe/Berlin").except(dates(1));

        Preview preview = everySecond.preview(
                Instant.parse("2026-03-02T00:00:00Z"), Years.LATEST, 1_000, SearchBudget.of(1_020, LONG));

        assertThat(preview.entries()).hasSize(1_000);
        assertThat(preview.entries().get(0).local()).isEqualTo("2028-11-26T00:00:00");
    }

    @Test
    void each_other_excluded_date_costs_one_step() {
        When mondays = When.cron("0 0 * * 1", "UTC").except(dates(7));

        assertThat(mondays.preview(AFTER, Years.LATEST, 1, SearchBudget.of(1_001, LONG))
                        .entries())
                .hasSize(1);
        assertThatThrownBy(() -> mondays.preview(AFTER, Years.LATEST, 1, SearchBudget.of(1_000, LONG)))
                .isInstanceOfSatisfying(
                        CarillonException.class,
                        refused -> assertThat(refused.code()).isEqualTo(ErrorCode.SEARCH_TOO_LONG))
                .hasMessageContaining("exceeds 1000 steps");
    }

    @Test
    void a_long_interval_ends_with_the_calendar() {
        When rare = When.every(400, ChronoUnit.YEARS, AFTER.atZone(ZoneId.of("Europe/Berlin")));

        assertThat(rare.preview(AFTER, Years.LATEST, 1_000, SearchBudget.of(20_000, LONG))
                        .entries())
                .hasSize(19);
    }

    @Test
    void a_search_ends_at_its_deadline() {
        When everySecond = When.cron("* * * * * *", "UTC");

        assertThatThrownBy(() ->
                        everySecond.preview(AFTER, Years.LATEST, 1_000, SearchBudget.of(Long.MAX_VALUE, Duration.ZERO)))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("or 0 ms");
    }

    @Test
    void a_budget_is_shared_by_the_searches_of_a_request() {
        When daily = When.cron("0 2 * * *", "UTC");
        SearchBudget budget = SearchBudget.of(25, LONG);
        daily.preview(AFTER, Years.LATEST, 10, budget);
        daily.preview(AFTER, Years.LATEST, 10, budget);

        assertThatThrownBy(() -> daily.preview(AFTER, Years.LATEST, 10, budget)).isInstanceOf(CarillonException.class);
    }

    @Test
    void a_preview_ends_at_its_last_instant_and_does_not_search_behind_it() {
        When daily = When.cron("0 2 * * *", "UTC").except(dates(1));

        assertThat(daily.preview(AFTER, AFTER.plus(Duration.ofDays(31)), 1_000, SearchBudget.of(10, LONG))
                        .entries())
                .extracting(entry -> entry.utc().toString())
                .containsExactly("2026-03-01T02:00:00Z");
    }

    /** Zones whose clocks change at midnight, or that have skipped a date. */
    @ParameterizedTest
    @CsvSource({
        "America/Sao_Paulo, 2018-02-10T00:00:00Z", "America/Havana, 2026-03-01T00:00:00Z",
        "Pacific/Apia, 2011-12-25T00:00:00Z", "Asia/Beirut, 2026-10-20T00:00:00Z"
    })
    void skipping_excluded_dates_finds_what_visiting_them_finds(String zone, Instant from) {
        LocalDate first = LocalDate.ofInstant(from, ZoneId.of(zone));
        for (int start = 0; start < 8; start++)
            for (int length = 1; length < 8; length++) {
                List<LocalDate> excluded = Stream.iterate(first.plusDays(start), date -> date.plusDays(1))
                        .limit(length)
                        .toList();
                When when = When.cron("30 */3 * * *", zone).except(excluded);
                List<Instant> skipping = new ArrayList<>();
                List<Instant> visiting = new ArrayList<>();
                for (Optional<Instant> at = when.next(from); skipping.size() < 60; at = when.next(at.orElseThrow()))
                    skipping.add(at.orElseThrow());
                for (Optional<Instant> at = when.nextIncludingExcluded(from);
                        visiting.size() < 60;
                        at = when.nextIncludingExcluded(at.orElseThrow()))
                    if (!when.excludes(at.orElseThrow())) visiting.add(at.orElseThrow());

                assertThat(skipping).as("%s except %s", zone, excluded).isEqualTo(visiting);
            }
    }

    /** In Newfoundland the clock went back over midnight until 2011: parts of 6 November 2010 came after 7 November. */
    @Test
    void a_date_that_is_repeated_across_midnight_does_not_stop_the_search() {
        ZonedDateTime start = ZonedDateTime.of(2010, 1, 1, 0, 30, 0, 0, ZoneId.of("America/St_Johns"));
        When when = When.every(1, ChronoUnit.HOURS, start)
                .except(List.of(LocalDate.of(2010, 11, 6), LocalDate.of(2010, 11, 7)));

        Optional<Instant> next = assertTimeoutPreemptively(
                Duration.ofSeconds(20), () -> when.next(Instant.parse("2010-11-06T12:00:00Z")));

        assertThat(next.map(at -> LocalDate.ofInstant(at, ZoneId.of("America/St_Johns"))))
                .contains(LocalDate.of(2010, 11, 8));
    }
}
