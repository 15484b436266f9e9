package io.carillon.it.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.carillon.Carillon;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pauses that begin and end by themselves, and what the ledger says meanwhile. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class PausesTest {
    record Report(String region) {}

    private static final HandlerType<Report> REPORT = HandlerType.of("report.make", Report.class);
    private static final When HOURLY = When.cron("0 * * * *", "UTC");
    private static final Report EU = new Report("eu");

    private final Queue<String> made = new ConcurrentLinkedQueue<>();
    private final Set<String> failing = ConcurrentHashMap.newKeySet();
    private final TestClock clock;
    private final House house;
    private Carillon carillon;

    PausesTest(TestDatabase database, TestClock clock) {
        this.house = new House(database);
        this.clock = clock;
    }

    @BeforeEach
    void client() {
        carillon = house.client(builder -> builder.handle(
                REPORT,
                (report, run) -> {
                    String time = run.plannedAt().map(PausesTest::time).orElse("-");
                    if (failing.contains(time)) throw new IllegalStateException("no paper at " + time);
                    made.add(time);
                },
                options -> options.retry(Retry.none())));
    }

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void a_pause_says_by_whom_why_and_until_when() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);

        carillon.schedules().pause("r", "ann", "stocktaking", at("14:30"));

        assertThat(pause()).isEqualTo(new Schedule.Pause(at("12:00"), "ann", "stocktaking", at("14:30")));
    }

    @Test
    void a_pause_ends_by_itself_and_what_came_after_its_end_is_not_of_the_pause() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().pause("r", null, at("14:30"));
        clock.at(at("14:29"));
        carillon.tick(Duration.ofSeconds(20));
        assertThat(pause()).isNotNull();

        // Nobody lives when it ends; 15:00 is late by then, and late instants run once.
        clock.at(at("15:10"));
        carillon.tick(Duration.ofSeconds(20));

        assertThat(pause()).isNull();
        assertThat(made).containsExactly("15:00");
        assertThat(ledger())
                .extracting(
                        LedgerEntry::from, LedgerEntry::to, LedgerEntry::count, LedgerEntry::state, LedgerEntry::reason)
                .containsExactly(
                        tuple(at("13:00"), at("14:00"), 2L, "skipped", "paused"),
                        tuple(at("15:00"), at("15:00"), 1L, "succeeded", null));
    }

    @Test
    void an_instant_at_the_very_end_of_a_pause_runs() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().pause("r", null, at("14:00"));

        clock.at(at("14:00"));
        carillon.tick(Duration.ofSeconds(20));

        assertThat(made).containsExactly("14:00");
    }

    @Test
    void a_pause_that_is_over_may_be_ended_by_hand_and_ended_when_it_was_over() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().pause("r", null, at("13:30"));

        clock.at(at("14:02"));
        assertThat(carillon.schedules().resume("r")).isTrue();
        carillon.tick(Duration.ofSeconds(20));

        assertThat(made).containsExactly("14:00");
    }

    @Test
    void the_ledger_knows_the_instants_of_a_pause_before_it_is_over() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().pause("r", null, null);
        clock.at(at("15:30"));

        assertThat(carillon.schedules().ledger("r", at("14:00"), at("20:00")))
                .containsExactly(new LedgerEntry(at("14:00"), at("15:00"), 2, "skipped", "paused", null, null));
        assertThat(house.number("SELECT count(*) FROM carillon.ledger_gap")).isZero();
    }

    @Test
    void the_ledger_knows_excluded_instants_before_their_date_is_over() {
        carillon.schedules().upsert("r", HOURLY.except(LocalDate.parse("2026-05-04")), REPORT, EU);
        clock.at(at("15:30"));
        carillon.tick(Duration.ofSeconds(20));

        assertThat(ledger())
                .containsExactly(new LedgerEntry(at("13:00"), at("15:00"), 3, "skipped", "excluded date", null, null));
        assertThat(made).isEmpty();
    }

    @Test
    void pauses_itself_after_so_many_failures_in_a_row_if_asked() {
        failing.addAll(List.of("13:00", "15:00", "16:00", "17:00", "18:00"));
        carillon.schedules().upsert("r", HOURLY, REPORT, EU, options -> options.pauseAfter(3));
        carillon.schedules().upsert("never", HOURLY, REPORT, EU);

        for (String hour : List.of("13:00", "14:00", "15:00", "16:00", "17:00")) hour(hour);
        assertThat(pause()).isNull();
        hour("18:00");

        assertThat(pause()).satisfies(pause -> {
            assertThat(pause.by()).isEqualTo("carillon");
            assertThat(pause.reason()).contains("3 runs in a row failed", "no paper at 17:00");
            assertThat(pause.until()).isNull();
        });
        assertThat(carillon.schedules().get("never").orElseThrow().paused()).isFalse();
    }

    @Test
    void a_resume_starts_the_count_of_failures_anew() {
        failing.addAll(List.of("13:00", "14:00", "16:00"));
        carillon.schedules().upsert("r", HOURLY, REPORT, EU, options -> options.pauseAfter(2));
        for (String hour : List.of("13:00", "14:00", "15:00")) hour(hour);
        assertThat(pause()).isNotNull();

        carillon.schedules().resume("r");
        for (String hour : List.of("16:00", "17:00")) hour(hour);

        assertThat(pause()).isNull();
        assertThat(made).containsExactly("17:00");
    }

    /** Some minutes before, a node plans; at the hour it runs. */
    private void hour(String hour) {
        clock.at(at(hour).minusSeconds(60));
        carillon.tick(Duration.ofSeconds(20));
        clock.at(at(hour));
        carillon.tick(Duration.ofSeconds(20));
    }

    private Schedule.Pause pause() {
        return carillon.schedules().get("r").orElseThrow().pause();
    }

    private List<LedgerEntry> ledger() {
        return carillon.schedules().ledger("r", at("00:00"), at("23:00")).stream()
                .map(entry -> new LedgerEntry(
                        entry.from(), entry.to(), entry.count(), entry.state(), entry.reason(), null, null))
                .toList();
    }

    private static Instant at(String time) {
        return Instant.parse("2026-05-04T" + time + ":00Z");
    }

    private static String time(Instant instant) {
        return instant.toString().substring(11, 16);
    }
}
