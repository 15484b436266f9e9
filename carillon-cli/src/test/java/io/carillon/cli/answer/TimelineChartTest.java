package io.carillon.cli.answer;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.cli.screen.RenderOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class TimelineChartTest {
    private static final Instant NOW = Instant.parse("2026-06-01T12:03:20Z");
    private static final JsonNode ROW = new JsonMapper().readTree("""
                    {"schedule":"nightly","past":[
                      {"from":"2026-06-01T12:00:00Z","to":"2026-06-01T12:00:00Z","state":"succeeded",\
                       "startedAt":"2026-06-01T12:00:00Z","endedAt":"2026-06-01T12:01:05Z","run":"r"},
                      {"from":"2026-06-01T12:02:00Z","to":"2026-06-01T12:02:00Z","state":"dead",\
                       "startedAt":"2026-06-01T12:02:00Z","endedAt":"2026-06-01T12:02:01Z","run":"r"}],
                     "coming":[{"at":"2026-06-01T12:06:00Z"}]}""");

    private static String chart(Duration before, Duration after, int width) {
        return TimelineChart.draw(
                List.of(ROW),
                new TimelineChart.Range(NOW.minus(before), NOW, NOW.plus(after)),
                width,
                RenderOptions.PLAIN_ASCII);
    }

    @Test
    void a_bar_reaches_from_the_start_of_a_run_to_its_end() {
        assertThat(chart(Duration.ofMinutes(5), Duration.ofMinutes(5), 69)).isEqualTo("""
                                           12:00       12:02       12:04       12:06
                        nightly            #######     x       |               .

                        times in UTC   | now   . to come   # succeeded
                        x dead or quarantined""");
    }

    @Test
    void labels_are_at_full_minutes_hours_or_days_and_the_legend_fits() {
        assertThat(chart(Duration.ofDays(1), Duration.ofDays(1), 80).lines())
                .first()
                .asString()
                .contains("18:00    00:00    06:00    12:00    18:00");
        assertThat(chart(Duration.ofDays(7), Duration.ofDays(7), 80).lines())
                .first()
                .asString()
                .contains("05-27     05-29     05-31", "06-04     06-06");
        assertThat(chart(Duration.ofSeconds(20), Duration.ofSeconds(20), 80).lines())
                .first()
                .asString()
                .contains("12:03:00   ", "12:03:10   ", "12:03:20   ", "12:03:30");
        for (Duration length : List.of(Duration.ofSeconds(2), Duration.ofHours(3), Duration.ofDays(15)))
            for (int width : List.of(40, 80, 120))
                assertThat(chart(length, length, width).lines())
                        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(width));
    }
}
