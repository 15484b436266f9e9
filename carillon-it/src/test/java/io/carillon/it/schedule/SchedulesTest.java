package io.carillon.it.schedule;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.PauseOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.Origin;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Schedules from creation to deletion, on a clock that the test sets. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class SchedulesTest {
    record Report(String region) {}

    private static final HandlerType<Report> REPORT = HandlerType.of("report.make", Report.class);
    private static final When HOURLY = When.cron("0 * * * *", "UTC");
    private static final Report EU = new Report("eu");
    private static final Report US = new Report("us");

    private final Queue<String> made = new ConcurrentLinkedQueue<>();
    private final TestClock clock;
    private final ApiFixture fixture;
    private Carillon carillon;

    SchedulesTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @BeforeEach
    void client() {
        carillon = fixture.client(builder -> builder.handle(
                REPORT,
                (report, run) -> made.add(report.region() + " "
                        + run.plannedAt().map(SchedulesTest::time).orElse("-"))));
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void the_same_definition_again_changes_nothing() {
        ScheduleChange created = carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        ScheduleChange again = carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        ScheduleChange edited = carillon.schedules().upsert("r", HOURLY, REPORT, US);

        assertThat(created).isInstanceOf(ScheduleChange.Created.class);
        assertThat(again).isInstanceOf(ScheduleChange.Unchanged.class);
        assertThat(again.schedule().id()).isEqualTo(created.schedule().id());
        assertThat(again.schedule().version()).isEqualTo(1);
        assertThat(edited).isInstanceOf(ScheduleChange.Updated.class);
        assertThat(edited.schedule().id()).isEqualTo(created.schedule().id());
        assertThat(carillon.schedules().get("r").map(Schedule::version)).contains(2L);
        assertThat(carillon.schedules().list()).hasSize(1);
    }

    private String queue(String name) {
        return carillon.schedules()
                .get(name)
                .orElseThrow()
                .definition()
                .template()
                .queue();
    }

    @Test
    void a_schedule_without_a_queue_uses_the_queue_of_its_handler() {
        carillon.schedules().upsert("hourly", HOURLY, REPORT, EU);

        assertThat(queue("hourly")).isEqualTo("report.make");
        carillon.schedules()
                .upsert("hourly", HOURLY, REPORT, EU, ScheduleOptions.defaults().queue("slow"));
        assertThat(queue("hourly")).isEqualTo("slow");
        carillon.schedules().upsert("hourly", HOURLY, REPORT, EU);
        assertThat(queue("hourly")).isEqualTo("report.make");
    }

    @Test
    void every_kind_and_option_reads_back_as_it_was_written() {
        When[] all = {
            HOURLY,
            When.cron("30 2 * * *", "Europe/Berlin")
                    .dst(new io.carillon.schedule.DstPolicy(
                            io.carillon.schedule.DstPolicy.Gap.SKIP, io.carillon.schedule.DstPolicy.Repeat.BOTH)),
            When.every(Duration.ofSeconds(90)),
            When.every(
                    2,
                    java.time.temporal.ChronoUnit.WEEKS,
                    Instant.parse("2026-01-01T09:30:00.123456Z").atZone(java.time.ZoneId.of("Asia/Kolkata"))),
            When.once(at("15:00")),
            HOURLY.from(at("13:00")).until(at("14:00")).jitter(Duration.ofMillis(1_234)),
        };
        for (int i = 0; i < all.length; i++) {
            String name = "s" + i;
            When when = all[i];

            carillon.schedules()
                    .upsert(
                            name,
                            when,
                            REPORT,
                            EU,
                            ScheduleOptions.defaults()
                                    .missed(MissedPolicy.SKIP)
                                    .grace(Duration.ofMillis(1_500))
                                    .catchUp(Duration.ofDays(366))
                                    .queue("q")
                                    .priority(Priority.BULK));

            assertThat(carillon.schedules().get(name).orElseThrow().definition().when())
                    .isEqualTo(when);
            assertThat(carillon.schedules()
                            .upsert(
                                    name,
                                    when,
                                    REPORT,
                                    EU,
                                    ScheduleOptions.defaults()
                                            .missed(MissedPolicy.SKIP)
                                            .grace(Duration.ofMillis(1_500))
                                            .catchUp(Duration.ofDays(366))
                                            .queue("q")
                                            .priority(Priority.BULK)))
                    .isInstanceOf(ScheduleChange.Unchanged.class);
        }
    }

    @Test
    void ticks_run_at_their_instants_and_not_before() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);

        assertThat(runDue()).isZero();
        clock.stopAt(at("12:59").plusSeconds(59));
        assertThat(runDue()).isZero();
        clock.stopAt(at("13:00"));
        assertThat(runDue()).isEqualTo(1);
        assertThat(runDue()).isZero();
        assertThat(made).containsExactly("eu 13:00");
    }

    @Test
    void an_edit_changes_future_ticks_and_keeps_due_ticks() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        clock.stopAt(at("12:59"));
        runDue();
        clock.stopAt(at("13:00"));
        // The tick of 13:00 is due and has not started: it keeps the definition under which it became due.
        carillon.schedules().upsert("r", When.cron("30 * * * *", "UTC"), REPORT, US);

        runDue();
        clock.stopAt(at("13:30"));
        runDue();
        clock.stopAt(at("14:00"));
        runDue();

        assertThat(made).containsExactly("eu 13:00", "us 13:30");
        assertThat(ledger("r", "12:00", "14:00"))
                .extracting(LedgerEntry::state)
                .containsExactly("succeeded", "succeeded");
    }

    @Test
    void repeated_edits_run_no_instant_twice() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        clock.stopAt(at("12:59").plusSeconds(30));
        runDue();
        for (Report payload : List.of(US, EU, US, EU)) carillon.schedules().upsert("r", HOURLY, REPORT, payload);
        clock.stopAt(at("13:00"));
        runDue();
        for (Report payload : List.of(US, EU, US)) carillon.schedules().upsert("r", HOURLY, REPORT, payload);
        runDue();
        clock.stopAt(at("14:00"));
        runDue();

        assertThat(made).containsExactly("eu 13:00", "us 14:00");
    }

    @Test
    void a_paused_schedule_runs_nothing_and_the_ledger_records_the_skipped_instants() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        assertThat(carillon.schedules().pause("r", PauseOptions.untilResumed().reason("month end \0")))
                .isTrue();
        assertThat(carillon.schedules().pause("r")).isFalse();
        Schedule.Pause pause = carillon.schedules().get("r").orElseThrow().pause();
        assertThat(pause).isNotNull();
        assertThat(pause.reason()).isEqualTo("month end \uFFFD");

        clock.stopAt(at("15:30"));
        assertThat(runDue()).isZero();
        assertThat(carillon.schedules().resume("r")).isTrue();
        assertThat(carillon.schedules().resume("r")).isFalse();
        assertThat(runDue()).isZero();
        clock.stopAt(at("16:00"));
        runDue();

        assertThat(made).containsExactly("eu 16:00");
        assertThat(ledger("r", "12:00", "16:00"))
                .satisfiesExactly(
                        gap -> {
                            assertThat(gap.state()).isEqualTo("skipped");
                            assertThat(gap.reason()).isEqualTo("paused");
                            assertThat(gap.count()).isEqualTo(3);
                            assertThat(gap.from()).isEqualTo(at("13:00"));
                            assertThat(gap.to()).isEqualTo(at("15:00"));
                        },
                        run -> assertThat(run.state()).isEqualTo("succeeded"));
    }

    @Test
    void a_pause_skips_due_ticks_that_have_not_started() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        clock.stopAt(at("12:59"));
        runDue();
        clock.stopAt(at("13:01"));

        carillon.schedules().pause("r");

        assertThat(runDue()).isZero();
        assertThat(ledger("r", "12:00", "14:00")).singleElement().satisfies(entry -> {
            assertThat(entry.from()).isEqualTo(at("13:00"));
            assertThat(entry.state()).isEqualTo("skipped");
            assertThat(entry.reason()).isEqualTo("paused");
        });
    }

    @Test
    @Tag("slow")
    void a_pause_of_three_years_of_seconds_can_be_resumed() {
        carillon.schedules().upsert("r", When.cron("* * * * * *", "UTC"), REPORT, EU);
        carillon.schedules().pause("r");
        clock.stopAt(at("12:00").plus(Duration.ofDays(3 * 365)));

        assertThat(carillon.schedules().resume("r")).isTrue();

        assertThat(fixture.query("SELECT count FROM carillon.ledger_gap").number())
                .isEqualTo(3 * 365 * 86_400);
    }

    @Test
    void a_deleted_schedule_does_not_run_and_its_name_is_free() {
        ScheduleChange first = carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        clock.stopAt(at("12:59"));
        runDue();

        assertThat(carillon.schedules().delete("r")).isTrue();

        clock.stopAt(at("13:00"));
        assertThat(runDue()).isZero();
        assertThat(carillon.schedules().delete("r")).isFalse();
        assertThat(carillon.schedules().get("r")).isEmpty();
        assertThat(carillon.schedules().list()).isEmpty();
        ScheduleChange second = carillon.schedules().upsert("r", HOURLY, REPORT, US);
        assertThat(second).isInstanceOf(ScheduleChange.Created.class);
        assertThat(second.schedule().id()).isNotEqualTo(first.schedule().id());
        clock.stopAt(at("14:00"));
        runDue();
        assertThat(made).containsExactly("us 14:00");
    }

    @Test
    void projects_can_have_schedules_with_the_same_name() {
        Carillon other = fixture.client(
                builder -> builder.project("other").handle(REPORT, (report, run) -> made.add("of the other")));
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        other.schedules().upsert("r", HOURLY, REPORT, US);

        assertThat(other.schedules().list()).hasSize(1);
        assertThat(other.schedules().delete("r")).isTrue();

        assertThat(other.schedules().get("r")).isEmpty();
        clock.stopAt(at("13:00"));
        assertThat(runDue()).isEqualTo(1);
        assertThat(made).containsExactly("eu 13:00");
    }

    @Test
    void a_trigger_starts_a_run_without_a_planned_instant_even_when_paused() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        carillon.schedules().pause("r");

        RunId run = carillon.schedules().trigger("r");

        assertThat(runDue()).isEqualTo(1);
        assertThat(made).containsExactly("eu -");
        assertThat(carillon.runs().get(run)).hasValueSatisfying(one -> {
            assertThat(one.origin()).isEqualTo(Origin.TRIGGER);
            assertThat(one.state()).isEqualTo(RunState.SUCCEEDED);
            assertThat(one.instants().plannedAt()).isNull();
        });
        assertThat(ledger("r", "11:00", "14:00")).isEmpty();
    }

    @Test
    void missed_instants_run_once_or_are_skipped_according_to_the_policy() {
        carillon.schedules().upsert("once", HOURLY, REPORT, EU);
        carillon.schedules()
                .upsert("skip", HOURLY, REPORT, US, ScheduleOptions.defaults().missed(MissedPolicy.SKIP));
        clock.stopAt(at("15:30"));

        runDue();

        assertThat(made).containsExactly("eu 15:00");
        assertThat(ledger("once", "12:00", "15:30"))
                .extracting(LedgerEntry::state, LedgerEntry::count)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("missed", 2L),
                        org.assertj.core.groups.Tuple.tuple("succeeded", 1L));
        assertThat(ledger("skip", "12:00", "15:30")).singleElement().satisfies(entry -> {
            assertThat(entry.state()).isEqualTo("missed");
            assertThat(entry.count()).isEqualTo(3);
        });
    }

    @Test
    void the_ledger_answers_for_any_range() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU);
        clock.stopAt(at("13:00"));
        runDue();

        assertThat(carillon.schedules().ledger("r", Instant.MIN, Instant.MAX)).hasSize(1);
        assertThat(carillon.schedules().ledger("r", at("13:00"), at("13:00"))).hasSize(1);
        assertThat(carillon.schedules().ledger("r", at("14:00"), at("12:00"))).isEmpty();
        assertThat(carillon.schedules().ledger("r", at("13:00").plusSeconds(1), at("13:59")))
                .isEmpty();
    }

    @Test
    void a_schedule_that_ends_runs_to_its_last_instant_inclusive() {
        carillon.schedules().upsert("r", HOURLY.from(at("13:00")).until(at("14:00")), REPORT, EU);

        for (String hour : List.of("13:00", "14:00", "15:00")) {
            clock.stopAt(at(hour));
            runDue();
        }

        assertThat(made).containsExactly("eu 13:00", "eu 14:00");
        assertThat(carillon.schedules().get("r").orElseThrow().planningState().nextAt())
                .isEqualTo(Instant.MAX);
    }

    @Test
    void schedules_at_the_ends_of_the_calendar_do_not_disturb_other_schedules() {
        Instant last = Instant.parse("9999-12-31T23:59:59Z");
        carillon.schedules().upsert("last", When.once(last), REPORT, US);
        carillon.schedules().upsert("endless", HOURLY.until(last), REPORT, EU);
        carillon.schedules()
                .upsert(
                        "ancient",
                        When.every(
                                1,
                                java.time.temporal.ChronoUnit.HOURS,
                                Instant.parse("0001-01-01T00:30:00Z").atZone(java.time.ZoneOffset.UTC)),
                        REPORT,
                        new Report("old"));
        carillon.schedules()
                .upsert("before-1970", HOURLY.from(Instant.parse("1901-12-13T20:45:52Z")), REPORT, new Report("ny"));

        clock.stopAt(at("12:30"));
        runDue();
        clock.stopAt(at("13:00"));
        runDue();

        assertThat(made).containsExactlyInAnyOrder("old 12:30", "eu 13:00", "ny 13:00");
        assertThat(carillon.schedules()
                        .get("last")
                        .orElseThrow()
                        .planningState()
                        .nextAt())
                .isEqualTo(last);
        assertThat(carillon.schedules().preview(When.once(last), at("13:00"), 5).entries())
                .hasSize(1);
        assertThat(carillon.schedules().pause("last")).isTrue();
        assertThat(carillon.schedules().resume("last")).isTrue();
        assertThat(carillon.schedules().delete("last")).isTrue();
    }

    @Test
    void unknown_schedules_are_reported() {
        assertThat(carillon.schedules().get("unknown")).isEmpty();
        assertThat(code(() -> carillon.schedules().trigger("unknown"))).isEqualTo(ErrorCode.UNKNOWN_SCHEDULE);
        assertThat(code(() -> carillon.schedules().pause("unknown"))).isEqualTo(ErrorCode.UNKNOWN_SCHEDULE);
        assertThat(code(() -> carillon.schedules().resume("unknown"))).isEqualTo(ErrorCode.UNKNOWN_SCHEDULE);
        assertThat(code(() -> carillon.schedules().ledger("unknown", Instant.EPOCH, Instant.MAX)))
                .isEqualTo(ErrorCode.UNKNOWN_SCHEDULE);
    }

    @Test
    void a_node_follows_the_test_clock_and_idempotency_keys_contain_the_planned_instant() {
        Queue<String> keys = new ConcurrentLinkedQueue<>();
        Carillon node = fixture.node(builder -> builder.handle(REPORT, (report, run) -> keys.add(run.idempotencyKey()))
                .schedule("nightly", HOURLY, REPORT, EU));
        Schedule schedule = node.schedules().get("nightly").orElseThrow();

        for (String hour : List.of("13:00", "14:00")) {
            clock.stopAt(at(hour));
            int expected = hour.equals("13:00") ? 1 : 2;
            eventually().until(() -> keys.size() == expected);
        }

        assertThat(keys)
                .containsExactly(schedule.id() + "@2026-05-04T13:00:00Z", schedule.id() + "@2026-05-04T14:00:00Z");
        eventually()
                .until(() -> node.runs()
                                .list(RunFilter.all().state(RunState.SUCCEEDED))
                                .size()
                        == 2);
        assertThat(node.runs().list(RunFilter.all().state(RunState.SUCCEEDED)))
                .extracting(Run::origin)
                .containsOnly(Origin.TICK);
    }

    private int runDue() {
        return carillon.runDue(Duration.ofSeconds(20)).processed();
    }

    private List<LedgerEntry> ledger(String name, String from, String to) {
        return carillon.schedules().ledger(name, at(from), at(to));
    }

    private static ErrorCode code(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, call);
        return refusal == null ? null : refusal.code();
    }

    private static Instant at(String time) {
        return Instant.parse("2026-05-04T" + time + ":00Z");
    }

    private static String time(Instant instant) {
        return instant.toString().substring(11, 16);
    }
}
