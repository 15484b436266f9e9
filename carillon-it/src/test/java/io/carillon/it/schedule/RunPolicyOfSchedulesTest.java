package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.Origin;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Retries and timeouts of a schedule: its runs have them, and an edit changes those of later ticks. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class RunPolicyOfSchedulesTest {
    record Report(String region) {}

    private static final HandlerType<Report> REPORT = HandlerType.of("report.make", Report.class);
    private static final When HOURLY = When.cron("0 * * * *", "UTC");
    private static final Report EU = new Report("eu");
    private static final Retry TWICE = Retry.exponential(Duration.ZERO).attempts(2);
    private static final Run.Policy TWICE_IN_A_MINUTE = new Run.Policy(TWICE, Duration.ofMinutes(1));
    private static final ScheduleOptions OPTIONS =
            ScheduleOptions.defaults().retry(TWICE).timeout(Duration.ofMinutes(1));

    private final TestClock clock;
    private final ApiFixture fixture;
    private Carillon carillon;

    RunPolicyOfSchedulesTest(TestDatabase database, TestClock clock) {
        this.fixture = new ApiFixture(database);
        this.clock = clock;
    }

    @BeforeEach
    void client() {
        carillon = fixture.client(builder -> builder.handle(REPORT, (report, run) -> {
            throw new IllegalStateException("no data");
        }));
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Run.Policy stored() {
        return carillon.schedules()
                .get("r")
                .map(Schedule::definition)
                .orElseThrow()
                .template()
                .policy();
    }

    private static Instant at(String time) {
        return Instant.parse("2026-05-04T" + time + ":00Z");
    }

    /** Returns the policies of the ticks and backfill runs by their instants. */
    private Map<Instant, Run.Policy> policies() {
        return carillon.runs().list(RunFilter.all()).stream()
                .filter(run -> run.instants().plannedAt() != null)
                .collect(Collectors.toMap(
                        run -> Objects.requireNonNull(run.instants().plannedAt()),
                        run -> run.details().policy()));
    }

    @Test
    void ticks_triggered_and_backfilled_runs_have_the_policy_of_the_schedule() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU, OPTIONS);
        RunId triggered = carillon.schedules().trigger("r");
        assertThat(carillon.schedules().backfill("r", at("10:00"), at("11:00"))).isEqualTo(2);
        clock.stopAt(at("13:00"));
        carillon.runDue(Duration.ofSeconds(20));

        assertThat(policies())
                .containsEntry(at("10:00"), TWICE_IN_A_MINUTE)
                .containsEntry(at("13:00"), TWICE_IN_A_MINUTE);
        assertThat(carillon.runs().get(triggered).orElseThrow().details().policy())
                .isEqualTo(TWICE_IN_A_MINUTE);
        assertThat(carillon.runs().list(RunFilter.all()))
                .filteredOn(run -> run.instants().endedAt() != null)
                .hasSize(4)
                .allMatch(run -> run.failures() == 2)
                .extracting(Run::origin)
                .contains(Origin.TICK, Origin.TRIGGER, Origin.BACKFILL);
    }

    @Test
    void the_policy_is_part_of_the_definition() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU, OPTIONS);

        assertThat(stored()).isEqualTo(TWICE_IN_A_MINUTE);
        assertThat(carillon.schedules().upsert("r", HOURLY, REPORT, EU, OPTIONS))
                .isInstanceOf(ScheduleChange.Unchanged.class);
        assertThat(carillon.schedules().upsert("r", HOURLY, REPORT, EU)).isInstanceOf(ScheduleChange.Updated.class);
        assertThat(stored()).isEqualTo(Run.Policy.none());
    }

    @Test
    void an_edit_changes_the_policy_of_later_ticks_and_not_that_of_due_ones() {
        carillon.schedules().upsert("r", HOURLY, REPORT, EU, OPTIONS);
        clock.stopAt(at("13:00"));

        carillon.schedules()
                .upsert("r", HOURLY, REPORT, EU, ScheduleOptions.defaults().retry(Retry.none()));

        assertThat(policies()).containsEntry(at("13:00"), TWICE_IN_A_MINUTE);
        clock.stopAt(at("14:00"));
        carillon.runDue(Duration.ofSeconds(20));
        assertThat(policies())
                .containsEntry(at("13:00"), TWICE_IN_A_MINUTE)
                .containsEntry(at("14:00"), new Run.Policy(Retry.none(), null));
    }
}
