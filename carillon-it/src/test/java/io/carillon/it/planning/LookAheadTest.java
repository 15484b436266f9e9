package io.carillon.it.planning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The look-ahead: how far ahead the planner stores ticks. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class LookAheadTest {
    private static final HandlerType<String> JOB = HandlerType.of("job", String.class);

    private final ApiFixture fixture;

    LookAheadTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void is_two_minutes_and_can_be_set() {
        When minutely = When.every(Duration.ofMinutes(1));
        Carillon usual = fixture.client(builder -> builder.handle(JOB, (text, run) -> {}));
        usual.schedules().upsert("usual", minutely, JOB, "");
        Carillon farther =
                fixture.client(builder -> builder.handle(JOB, (text, run) -> {}).lookAhead(Duration.ofMinutes(10)));
        farther.schedules().upsert("farther", minutely, JOB, "");

        assertThat(ticks("usual")).isEqualTo("2");
        assertThat(ticks("farther")).isEqualTo("10");
    }

    private String ticks(String name) {
        return fixture.query(("SELECT count(*) FROM carillon.run r JOIN carillon.schedule s ON s.id = r.schedule_id"
                                + " WHERE s.name = '%s'")
                        .formatted(name))
                .text();
    }

    @Test
    void must_be_between_20_seconds_and_an_hour() {
        assertThatThrownBy(() -> fixture.builder().lookAhead(Duration.ofSeconds(19)))
                .hasMessage("lookAhead must be between 20 s and 1 h (was PT19S).");
        assertThatThrownBy(() -> fixture.builder().lookAhead(Duration.ofHours(2)))
                .hasMessageContaining("was PT2H");
    }
}
