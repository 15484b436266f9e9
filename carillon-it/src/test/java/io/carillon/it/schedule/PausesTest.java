package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.PauseOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.it.fixture.StatementCounter;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.spi.ScheduleEvent;
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
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pauses that end at a set time or begin after failures, and their ledger entries. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class PausesTest {
    record Report(String region) {}

    private static final HandlerType<Report> REPORT = HandlerType.of("report.make", Report.class);
    private static final When HOURLY = When.cron("0 * * * *", "UTC");
    private static final Report EU = new Report("eu");
    private static final PauseOptions STOCKTAKING =
            PauseOptions.until(at("14:30")).by("ann").reason("stocktaking");

    private final Queue<String> made = new ConcurrentLinkedQueue<>();
    private final Set<String> failing = ConcurrentHashMap.newKeySet();
    private final TestClock clock;
    private final ApiFixture fixture;
    private Carillon carillon;

    PausesTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @BeforeEach
    void client() {
        carillon = fixture.client(builder -> builder.handle(
                REPORT,
                (report, run) -> {
                    String time = run.plannedAt().map(PausesTest::time).orElse("-");
                    if (failing.contains(time)) throw new IllegalStateException("no paper at " + time);
                    made.add(time);
                },
                HandlerOptions.defaults().retry(Retry.none())));
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void a_pause_stores_its_author_its_reason_and_its_end() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);

        carillon.schedules().pause("r", STOCKTAKING);

        assertThat(pause()).isEqualTo(new Schedule.Pause(at("12:00"), "ann", "stocktaking", at("14:30")));
    }

    @Test
    void a_pause_without_options_has_neither_a_reason_nor_an_end() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);

        carillon.schedules().pause("r");

        assertThat(pause()).isEqualTo(new Schedule.Pause(at("12:00"), "library", null, null));
    }

    @Test
    void the_event_of_a_pause_contains_its_author_its_reason_and_its_end() {
        Queue<ScheduleEvent> events = new ConcurrentLinkedQueue<>();
        Carillon observed = fixture.client(builder -> builder.scheduleListener(events::add));
        observed.schedules().upsert("r", HOURLY, REPORT, EU);

        assertThat(observed.schedules().pause("r", STOCKTAKING)).isTrue();
        assertThat(observed.schedules().pause("r")).isFalse();

        assertThat(events)
                .containsExactly(
                        new ScheduleEvent.Created("default", "r"),
                        new ScheduleEvent.Paused("default", "r", "ann", "stocktaking", at("14:30")));
    }

    @Test
    void several_schedules_are_paused_like_one_after_the_other() {
        Queue<ScheduleEvent> events = new ConcurrentLinkedQueue<>();
        Carillon observed = fixture.client(builder -> builder.scheduleListener(events::add));
        List<When> timings = List.of(
                HOURLY,
                When.every(Duration.ofSeconds(20)),
                HOURLY.except(LocalDate.parse("2026-05-04")),
                When.once(at("18:00")),
                When.every(Duration.ofMinutes(7)).maxRuns(3));
        for (int i = 0; i < timings.size(); i++)
            for (String name : List.of("one", "all")) observed.schedules().upsert(name + i, timings.get(i), REPORT, EU);
        observed.schedules().upsert("paused", HOURLY, REPORT, EU);
        observed.schedules().pause("paused");
        clock.stopAt(at("13:30"));
        events.clear();

        for (int i = 0; i < timings.size(); i++) observed.schedules().pause("one" + i, STOCKTAKING);
        List<String> paused = observed.schedules()
                .pause(List.of("all4", "all3", "all2", "all1", "all0", "paused", "unknown"), STOCKTAKING);

        assertThat(paused).containsExactlyInAnyOrder("all0", "all1", "all2", "all3", "all4");
        assertThat(events)
                .filteredOn(event -> event.toString().contains("all"))
                .hasSize(5)
                .contains(new ScheduleEvent.Paused("default", "all0", "ann", "stocktaking", at("14:30")));
        for (int i = 0; i < timings.size(); i++) {
            Schedule one = observed.schedules().get("one" + i).orElseThrow();
            Schedule all = observed.schedules().get("all" + i).orElseThrow();
            assertThat(all.pause()).as(all.name()).isEqualTo(one.pause());
            assertThat(all.planningState()).as(all.name()).isEqualTo(one.planningState());
            assertThat(states("all" + i)).as(all.name()).isEqualTo(states("one" + i));
        }
        assertThat(fixture.query("SELECT count(*) FROM carillon.run").number()).isZero();
    }

    private List<String> states(String name) {
        return carillon.schedules().ledger(name, at("00:00"), at("23:00")).stream()
                .map(entry -> "%s %s %d %s %s"
                        .formatted(entry.from(), entry.to(), entry.count(), entry.state(), entry.reason()))
                .toList();
    }

    @Test
    void the_statements_of_a_pause_do_not_depend_on_the_number_of_schedules() {
        StatementCounter counter = new StatementCounter(fixture.database().pool(2));
        Carillon counted = fixture.add(Carillon.on(counter.source()).build());
        List<String> names = IntStream.range(0, 60).mapToObj(i -> "r" + i).toList();
        for (String name : names) carillon.schedules().upsert(name, When.every(Duration.ofSeconds(20)), REPORT, EU);
        clock.stopAt(at("12:10"));
        counted.schedules().pause(names.subList(0, 1), STOCKTAKING);

        counter.restart();
        counted.schedules().pause(names.subList(1, 2), STOCKTAKING);
        long forOne = counter.byThread().get(Thread.currentThread().getName());
        counter.restart();
        assertThat(counted.schedules().pause(names, STOCKTAKING)).hasSize(58);

        assertThat(counter.byThread().get(Thread.currentThread().getName())).isEqualTo(forOne);
    }

    @Test
    void a_pause_ends_automatically_and_later_instants_are_not_skipped() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().pause("r", PauseOptions.until(at("14:30")));
        clock.stopAt(at("14:29"));
        carillon.runDue(Duration.ofSeconds(20));
        assertThat(pause()).isNotNull();

        // No node runs when the pause ends. The tick of 15:00 is late by then, and late ticks run once.
        clock.stopAt(at("15:10"));
        carillon.runDue(Duration.ofSeconds(20));

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
    void an_instant_at_the_exact_end_of_a_pause_runs() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().pause("r", PauseOptions.until(at("14:00")));

        clock.stopAt(at("14:00"));
        carillon.runDue(Duration.ofSeconds(20));

        assertThat(made).containsExactly("14:00");
    }

    @Test
    void resuming_after_the_end_of_a_pause_keeps_its_planned_end() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().pause("r", PauseOptions.until(at("13:30")));

        clock.stopAt(at("14:02"));
        assertThat(carillon.schedules().resume("r")).isTrue();
        carillon.runDue(Duration.ofSeconds(20));

        assertThat(made).containsExactly("14:00");
    }

    @Test
    void the_ledger_lists_the_instants_of_a_pause_before_the_pause_ends() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().pause("r");
        clock.stopAt(at("15:30"));

        assertThat(carillon.schedules().ledger("r", at("14:00"), at("20:00")))
                .containsExactly(new LedgerEntry(at("14:00"), at("15:00"), 2, "skipped", "paused", null, null, null));
        assertThat(fixture.query("SELECT count(*) FROM carillon.ledger_gap").number())
                .isZero();
    }

    @Test
    void the_ledger_lists_excluded_instants_before_the_excluded_date_ends() {
        carillon.schedules().upsert("r", HOURLY.except(LocalDate.parse("2026-05-04")), REPORT, EU);
        clock.stopAt(at("15:30"));
        carillon.runDue(Duration.ofSeconds(20));

        assertThat(ledger())
                .containsExactly(
                        new LedgerEntry(at("13:00"), at("15:00"), 3, "skipped", "excluded date", null, null, null));
        assertThat(made).isEmpty();
    }

    @Test
    void pause_after_pauses_the_schedule_after_that_many_consecutive_failures() {
        failing.addAll(List.of("13:00", "15:00", "16:00", "17:00", "18:00"));
        carillon.schedules()
                .upsert("r", HOURLY, REPORT, EU, ScheduleOptions.defaults().pauseAfter(3));
        carillon.schedules().upsert("never", HOURLY, REPORT, EU);

        for (String hour : List.of("13:00", "14:00", "15:00", "16:00", "17:00")) runHour(hour);
        assertThat(pause()).isNull();
        runHour("18:00");

        assertThat(pause()).satisfies(pause -> {
            assertThat(pause.by()).isEqualTo("carillon");
            assertThat(pause.reason()).contains("3 runs in a row failed", "no paper at 17:00");
            assertThat(pause.until()).isNull();
        });
        assertThat(carillon.schedules().get("never").orElseThrow().isPaused()).isFalse();
    }

    @Test
    void a_resume_resets_the_count_of_failures() {
        failing.addAll(List.of("13:00", "14:00", "16:00"));
        carillon.schedules()
                .upsert("r", HOURLY, REPORT, EU, ScheduleOptions.defaults().pauseAfter(2));
        for (String hour : List.of("13:00", "14:00", "15:00")) runHour(hour);
        assertThat(pause()).isNotNull();

        carillon.schedules().resume("r");
        for (String hour : List.of("16:00", "17:00")) runHour(hour);

        assertThat(pause()).isNull();
        assertThat(made).containsExactly("17:00");
    }

    /** Plans one minute before the hour and executes at the hour. */
    private void runHour(String hour) {
        clock.stopAt(at(hour).minusSeconds(60));
        carillon.runDue(Duration.ofSeconds(20));
        clock.stopAt(at(hour));
        carillon.runDue(Duration.ofSeconds(20));
    }

    private Schedule.Pause pause() {
        return carillon.schedules().get("r").orElseThrow().pause();
    }

    private List<LedgerEntry> ledger() {
        return carillon.schedules().ledger("r", at("00:00"), at("23:00")).stream()
                .map(entry -> new LedgerEntry(
                        entry.from(), entry.to(), entry.count(), entry.state(), entry.reason(), null, null, null))
                .toList();
    }

    private static Instant at(String time) {
        return Instant.parse("2026-05-04T" + time + ":00Z");
    }

    private static String time(Instant instant) {
        return instant.toString().substring(11, 16);
    }
}
