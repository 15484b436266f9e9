package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Expressions that are valid but probably unintended. */
class CronWarningTest {
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
        */61 * * * *   ; a step of 61 in minutes runs once an hour
        */60 * * * *   ; a step of 60 in minutes runs once an hour
        5/55 * * * *   ; a step of 55 in minutes runs once an hour
        */90 * * * * * ; a step of 90 in seconds runs once a minute
        0 */24 * * *   ; a step of 24 in hours runs once a day
        0 0 */31 * *   ; a step of 31 in days runs once a month
        0 0 1 */12 *   ; a step of 12 in months runs once a year
        0 0 * * */8    ; a step of 8 in weekdays runs once a week
        """)
    void a_step_beyond_its_field_warns(String text, String warning) {
        When when = When.cron(text, ZoneOffset.UTC);

        assertThat(when.warnings()).containsExactly(warning);
        assertThat(when.preview(Instant.EPOCH, 3).warnings()).containsExactly(warning);
        assertThat(CronExpression.parse(text).warnings()).containsExactly(warning);
    }

    @Test
    void each_field_has_its_own_warning() {
        assertThat(CronExpression.parse("*/61 */25 * * *").warnings())
                .containsExactly("a step of 61 in minutes runs once an hour", "a step of 25 in hours runs once a day");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
        0 0 9 ? * 2-6  ; 2-6
        0 9 ? * 2,4    ; 2,4
        0 0 9 ? * 6L   ; 6L
        0 0 9 ? * 6#3  ; 6#3
        0 0 9 ? * 2/2  ; 2/2
        """)
    void weekday_numbers_beside_a_question_mark_warn(String text, String weekdays) {
        When when = When.cron(text, ZoneOffset.UTC);

        assertThat(when.warnings())
                .containsExactly("the weekdays " + weekdays
                        + " mean other days in Quartz: Sunday is 0 here and 1 there; write names such as MON-FRI");
        assertThat(when.preview(Instant.EPOCH, 3).warnings()).isEqualTo(when.warnings());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "* * * * *",
                "*/30 * * * *",
                "*/59 * * * *",
                "*/1 * * * *",
                "5/1 * * * *",
                "0 0 1-7 * */7",
                "0 0 9 ? * MON-FRI",
                "0 0 9 ? * MON-FRI/2",
                "0 0 9 ? * *",
                "0 0 9 ? * */2",
                "0 0 9 2-6 * ?",
                "0 9 * * 2-6",
                "@daily"
            })
    void intended_notations_do_not_warn(String text) {
        assertThat(CronExpression.parse(text).warnings()).isEmpty();
    }
}
