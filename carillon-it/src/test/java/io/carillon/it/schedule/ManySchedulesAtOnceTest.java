package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.it.fixture.StatementCounter;
import io.carillon.run.HandlerType;
import io.carillon.schedule.NewSchedule;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@CarillonTest
class ManySchedulesAtOnceTest {
    record Report(String region) {}

    private static final HandlerType<Report> REPORT = HandlerType.of("report", Report.class);
    private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

    private final ApiFixture fixture;

    ManySchedulesAtOnceTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void new_schedules_are_stored_with_their_first_ticks() {
        Carillon carillon = fixture.client(builder -> builder);

        List<ScheduleChange> changes = carillon.schedules().upsertAll(schedules(700, "eu"));

        assertThat(changes).hasSize(700).allMatch(ScheduleChange.Created.class::isInstance);
        assertThat(changes.get(41).schedule())
                .isEqualTo(carillon.schedules().get("s0041").orElseThrow());
        assertThat(fixture.query("SELECT count(*) FROM carillon.schedule").number())
                .isEqualTo(700);
        assertThat(fixture.query("""
                        SELECT count(*) FROM (
                          SELECT 1 FROM carillon.schedule s JOIN carillon.run r ON r.schedule_id = s.id
                           WHERE r.planned_at <= s.cursor AND s.next_at > s.cursor AND r.due_at > s.created_at
                           GROUP BY s.id, s.ticks HAVING count(*) = s.ticks AND count(*) >= 12) complete
                        """).number()).isEqualTo(700);
    }

    @Test
    void all_properties_are_read_back_as_they_were_written() {
        Carillon carillon = fixture.client(builder -> builder);
        List<NewSchedule> schedules = List.of(
                NewSchedule.of(
                        "cron",
                        When.cron("0 2 * * 1-5", "Europe/Paris").jitter(Duration.ofSeconds(30)),
                        REPORT,
                        new Report("é\"\\{}")),
                NewSchedule.of("adaptive", When.adaptive(TEN_SECONDS, Duration.ofHours(1)), REPORT, new Report("eu")),
                NewSchedule.of("once", When.once(Instant.parse("2100-01-01T00:00:00Z")), REPORT, new Report("eu")),
                NewSchedule.of("limited", When.every(TEN_SECONDS), REPORT, new Report("eu"))
                        .options(ScheduleOptions.defaults()
                                .queue("night")
                                .overlap(OverlapPolicy.SKIP)
                                .pauseAfter(3)));

        carillon.schedules().upsertAll(schedules);

        assertThat(carillon.schedules().upsertAll(schedules)).allMatch(ScheduleChange.Unchanged.class::isInstance);
        assertThat(carillon.schedules()
                        .get("limited")
                        .orElseThrow()
                        .definition()
                        .policies()
                        .pauseAfter())
                .isEqualTo(3);
        assertThat(fixture.query("SELECT DISTINCT queue || ' ' || parked FROM carillon.run r"
                                + " WHERE schedule_id = (SELECT id FROM carillon.schedule WHERE name = 'limited')")
                        .text())
                .isEqualTo("night gate");
    }

    @Test
    void existing_schedules_are_changed_or_left_alone() {
        Carillon carillon = fixture.client(builder -> builder);
        carillon.schedules().upsertAll(schedules(5, "eu"));
        List<NewSchedule> mixed = List.of(schedule(1, "eu"), schedule(2, "us"), schedule(9, "eu"));

        List<ScheduleChange> changes = carillon.schedules().upsertAll(mixed);

        assertThat(changes.get(0)).isInstanceOf(ScheduleChange.Unchanged.class);
        assertThat(changes.get(1)).isInstanceOf(ScheduleChange.Updated.class);
        assertThat(changes.get(2)).isInstanceOf(ScheduleChange.Created.class);
        assertThat(changes).extracting(change -> change.schedule().version()).containsExactly(1L, 2L, 1L);
    }

    @Test
    void one_invalid_schedule_stores_none() {
        Carillon carillon = fixture.client(builder -> builder);
        NewSchedule over =
                NewSchedule.of("over", When.once(Instant.parse("2001-01-01T00:00:00Z")), REPORT, new Report("eu"));

        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> carillon.schedules().upsertAll(List.of(schedule(1, "eu"), over)))
                .satisfies(failure -> assertThat(failure.code()).isEqualTo(ErrorCode.NO_INSTANTS));
        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> carillon.schedules().upsertAll(List.of(schedule(1, "eu"), schedule(1, "us"))))
                .satisfies(failure -> assertThat(failure.code()).isEqualTo(ErrorCode.DUPLICATE_SCHEDULE));

        assertThat(carillon.schedules().list()).isEmpty();
    }

    @Test
    void new_schedules_cost_three_statements_with_the_wakeup_and_an_unchanged_one_costs_one() {
        StatementCounter statements = new StatementCounter(fixture.database().pool(4));
        Carillon carillon = fixture.add(Carillon.on(statements.source()).build());
        carillon.schedules().upsert("first", When.every(TEN_SECONDS), REPORT, new Report("eu"));
        statements.restart();

        carillon.schedules().upsert("second", When.every(TEN_SECONDS), REPORT, new Report("eu"));
        assertThat(sent(statements)).isEqualTo(3);
        carillon.schedules().upsert("second", When.every(TEN_SECONDS), REPORT, new Report("eu"));
        assertThat(sent(statements)).isEqualTo(1);
        carillon.schedules().upsertAll(schedules(300, "eu"));
        assertThat(sent(statements)).isEqualTo(3);
    }

    @Test
    void of_several_callers_with_the_same_schedules_each_schedule_is_created_by_one() {
        Carillon one = fixture.client(builder -> builder);
        Carillon other = fixture.client(builder -> builder);

        List<CompletableFuture<List<ScheduleChange>>> calls = List.of(
                CompletableFuture.supplyAsync(() -> one.schedules().upsertAll(schedules(300, "eu"))),
                CompletableFuture.supplyAsync(() -> other.schedules().upsertAll(reversed(schedules(300, "eu")))));
        List<ScheduleChange> changes =
                calls.stream().flatMap(call -> call.join().stream()).toList();

        assertThat(changes.stream().filter(ScheduleChange.Created.class::isInstance))
                .hasSize(300);
        assertThat(changes.stream().filter(ScheduleChange.Unchanged.class::isInstance))
                .hasSize(300);
        assertThat(fixture.query("SELECT count(*) FROM carillon.run").number())
                .isEqualTo(fixture.query("SELECT sum(ticks)::bigint FROM carillon.schedule")
                        .number());
    }

    private static long sent(StatementCounter statements) {
        long sent = statements.byThread().getOrDefault(Thread.currentThread().getName(), 0L);
        statements.restart();
        return sent;
    }

    private static List<NewSchedule> schedules(int count, String region) {
        return IntStream.range(0, count).mapToObj(i -> schedule(i, region)).toList();
    }

    private static List<NewSchedule> reversed(List<NewSchedule> schedules) {
        List<NewSchedule> reversed = new ArrayList<>(schedules);
        Collections.reverse(reversed);
        return reversed;
    }

    private static NewSchedule schedule(int number, String region) {
        return NewSchedule.of("s%04d".formatted(number), When.every(TEN_SECONDS), REPORT, new Report(region));
    }
}
