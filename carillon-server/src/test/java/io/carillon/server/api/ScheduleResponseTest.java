package io.carillon.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.run.HandlerType;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.SearchBudget;
import io.carillon.schedule.When;
import io.carillon.server.http.Json;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** A schedule whose next runs are not found within the budget of a request. */
@CarillonTest
class ScheduleResponseTest {
    private static final Instant NOW = Instant.parse("2026-11-15T12:00:00Z");

    private final TestDatabase database;

    ScheduleResponseTest(TestDatabase database) {
        this.database = database;
    }

    @Test
    void a_single_schedule_is_shown_without_the_next_runs_if_their_search_takes_too_long() {
        try (Carillon carillon = Carillon.on(database.dataSource()).build()) {
            carillon.schedules().upsert("s", When.cron("* * * * *", "UTC"), HandlerType.of("a", String.class), "x");
            Schedule schedule = carillon.schedules().get("s").orElseThrow();

            assertThat(Json.text(JsonResponses.singleSchedule(schedule, NOW, budget(3))))
                    .contains("\"name\":\"s\"")
                    .doesNotContain("nextRuns");
            assertThat(Json.text(JsonResponses.singleSchedule(schedule, NOW, budget(1_000))))
                    .contains("\"nextRuns\":[\"2026-11-15T12:01:00Z\"");
            assertThatThrownBy(() -> JsonResponses.schedule(schedule, NOW, budget(3)))
                    .isInstanceOf(CarillonException.class);
        }
    }

    private static SearchBudget budget(int steps) {
        return SearchBudget.of(steps, Duration.ofSeconds(2));
    }
}
