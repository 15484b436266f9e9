package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.CronSyntaxException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The accepted notations, and the error messages for all others. */
class CronSyntaxTest {

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = ';', quoteCharacter = '`', textBlock = """
        # text             ; position ; what                                 ; advice
        60 * * * *         ; 0  ; The minute is outside 0-59                ; Write 0-59.
        * 24 * * *         ; 2  ; The hour is outside 0-23                  ; Write 0-23.
        * * 0 * *          ; 4  ; The day is outside 1-31                   ; Write 1-31.
        * * 32 * *         ; 4  ; The day is outside 1-31                   ; Write 1-31.
        * * * 13 *         ; 6  ; The month is outside 1-12                 ; Write 1-12 or JAN-DEC.
        * * * * 8          ; 8  ; The weekday is outside 0-7                ; Write 0-7 or SUN-SAT.
        * * * * * 9        ; 10 ; The weekday is outside 0-7                ; Write 0-7 or SUN-SAT.
        61 * * * * *       ; 0  ; The second is outside 0-59                ; Write 0-59.
        1-60 * * * *       ; 2  ; The minute is outside 0-59                ; Write 0-59.
        4294967301 * * * * ; 0  ; The number has more than four digits      ; Write 0-59, or a smaller step.
        9999 * * * *       ; 0  ; The minute is outside 0-59                ; Write 0-59.
        99999999999999999999 * * * * ; 0 ; The number has more than four digits ; Write 0-59, or a smaller step.
        */12345678901234567890123 * * * * ; 2 ; The number has more than four digits ; Write 0-59, or a smaller step.
        0 0 ?/2 * *         ; 5 ; "?" cannot have a step ; Write * with the step, or ? alone.
        0 22-2 * * *       ; 2  ; The range is reversed                     ; Write 22-23,0-2.
        0 0 * * 5-1        ; 8  ; The range is reversed                     ; Write 5-6,0-1.
        0 0 * * FRI-MON    ; 8  ; The range is reversed                     ; Write FRI-SAT,SUN-MON.
        0 0 * nov-feb *    ; 6  ; The range is reversed                     ; Write NOV-DEC,JAN-FEB.
        0 0 * * 6-0        ; 8  ; The range is reversed                     ; Write 6,0.
        */0 * * * *        ; 2  ; A step of 0 is not allowed                ; Write a step of 1 or more
        5/00 * * * *       ; 2  ; A step of 0 is not allowed                ; Write a step of 1 or more
        */ * * * *         ; 2  ; Expected a step after "/"                 ; Write 0-59.
        */x * * * *        ; 2  ; Expected a step after "/"                 ; Write 0-59.
        1- * * * *         ; 2  ; Expected the minute                       ; Write 0-59.
        -1 * * * *         ; 0  ; Expected the minute                       ; Write 0-59.
        +1 * * * *         ; 0  ; Expected the minute                       ; Write 0-59.
        1,,2 * * * *       ; 2  ; A value is missing                        ; before and after each comma
        ,1 * * * *         ; 0  ; A value is missing                        ; before and after each comma
        1, * * * *         ; 2  ; A value is missing                        ; before and after each comma
        1.5 * * * *        ; 1  ; Cannot read the rest of the minute field  ; Separate values with commas
        *-5 * * * *        ; 1  ; Cannot read the rest of the minute field  ; Separate values with commas
        1-2-3 * * * *      ; 3  ; Cannot read the rest of the minute field  ; Separate values with commas
        ** * * * *         ; 1  ; Cannot read the rest of the minute field  ; Separate values with commas
        */2/2 * * * *      ; 3  ; Cannot read the rest of the minute field  ; Separate values with commas
        ? * * * *          ; 0  ; Expected the minute                       ; Write 0-59.
        0 ? * * *          ; 2  ; Expected the hour                         ; Write 0-23.
        0 0 * ? *          ; 6  ; Expected the month                        ; Write 1-12 or JAN-DEC.
        L * * * *          ; 0  ; Unknown word in the minute field          ; Write 0-59.
        0 0 1L * *         ; 5  ; Cannot read the rest of the day field     ; Separate values with commas
        0 0 W * *          ; 4  ; Unknown word in the day field             ; Write 1-31, L, L-3, LW or 15W.
        0 0 L-31 * *       ; 6  ; The number of days before the last day is too large ; Write L-1 to L-30.
        0 0 L- * *         ; 6  ; Expected a number of days after "L-"      ; Write 1-31, L, L-3, LW or 15W.
        0 0 L-3W * *       ; 7  ; Cannot read the rest of the day field     ; Separate values with commas
        0 0 L/2 * *        ; 5  ; Cannot read the rest of the day field     ; Separate values with commas
        0 0 1-5W * *       ; 7  ; Cannot read the rest of the day field     ; Separate values with commas
        0 0 15W/2 * *      ; 7  ; Cannot read the rest of the day field     ; Separate values with commas
        0 0 32W * *        ; 4  ; The day is outside 1-31                   ; Write 1-31.
        0 0 1#2 * *        ; 5  ; Cannot read the rest of the day field     ; Separate values with commas
        0 0 * * L          ; 8  ; Unknown word in the weekday field         ; FRIL for the last Friday
        0 0 * * 5W         ; 9  ; Cannot read the rest of the weekday field ; Separate values with commas
        0 0 * * MON#0 ; 12 ; The number of the weekday in the month is outside 1-5 ; Write #1 to #5, or L for the last
        0 0 * * 1#6 ; 10 ; The number of the weekday in the month is outside 1-5 ; Write #1 to #5, or L for the last
        0 0 * * 1# ; 10 ; Expected the number of the weekday in the month after "#" ; MON#2 for the second Monday
        0 0 * * MON-FRI#2  ; 15 ; Cannot read the rest of the weekday field ; Separate values with commas
        0 0 * * 5L/2       ; 10 ; Cannot read the rest of the weekday field ; Separate values with commas
        0 0 * * MONDAY     ; 8  ; Unknown word in the weekday field         ; Write 0-7 or SUN-SAT
        0 0 * * XYZ        ; 8  ; Unknown word in the weekday field         ; Write 0-7 or SUN-SAT
        0 0 * * MO         ; 8  ; Unknown word in the weekday field         ; Write 0-7 or SUN-SAT
        0 0 * JANL *       ; 6  ; Unknown word in the month field           ; Write 1-12 or JAN-DEC.
        0 0 * MON *        ; 6  ; Unknown word in the month field           ; Write 1-12 or JAN-DEC.
        0 0 * * JAN        ; 8  ; Unknown word in the weekday field         ; Write 0-7 or SUN-SAT
        * * * *            ; 7  ; Only 4 fields                             ; Write minute, hour, day, month and weekday
        *                  ; 1  ; Only 1 field                              ; Write minute, hour, day, month and weekday
        0 0 0 1 1 * 2024   ; 12 ; Too many fields (7)                       ; there is no year field
        ``                 ; 0  ; The expression is empty                   ; Write five fields
        `  `               ; 2  ; The expression is empty                   ; Write five fields
        @reboot            ; 0  ; Unknown nickname                          ; Write @yearly, @annually, @monthly
        ` @`               ; 1  ; Unknown nickname                          ; Write @yearly, @annually, @monthly
        @daily *           ; 7  ; Unexpected text after the nickname        ; Write the nickname alone
        `  61 * * * *`     ; 2  ; The minute is outside 0-59                ; Write 0-59.
        """)
    void an_error_names_the_problem_its_position_and_the_allowed_values(
            String text, int position, String what, String advice) {
        CronSyntaxException wrong = catchThrowableOfType(CronSyntaxException.class, () -> CronExpression.parse(text));

        assertThat(wrong.position()).isEqualTo(position);
        assertThat(wrong)
                .hasMessageStartingWith(what)
                .hasMessageContaining(" at position " + position + " of \"" + text + "\". ")
                .hasMessageContaining(advice);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
        0 0 * * SUN         ; 0 0 * * 7
        0 0 * * 0           ; 0 0 * * 7
        0 0 * * fri-sun     ; 0 0 * * 5-7
        0 0 * * MON-SUN     ; 0 0 * * 1-7
        0 0 * * 0-SUN       ; 0 0 * * 0
        0 0 * * 1/2         ; 0 0 * * 1,3,5,7
        0 0 * Jan-mAR *     ; 0 0 * 1-3 *
        007 000 * * *       ; 7 0 * * *
        5/20 * * * *        ; 5,25,45 * * * *
        10-20/5 * * * *     ; 10,15,20 * * * *
        10-20/9999 * * * * ; 10 * * * *
        0 0 ? * ?           ; 0 0 * * *
        @ANNUALLY           ; 0 0 1 1 *
        @Midnight           ; @daily
        0 2 * * *           ; 0 0 2 * * *
        """)
    void parses_both_notations_to_the_same_instants(String one, String other) {
        Instant at = Instant.parse("2024-02-27T11:59:58Z");
        CronExpression a = CronExpression.parse(one);
        CronExpression b = CronExpression.parse(other);
        for (int i = 0; i < 200; i++) {
            Instant next = a.next(at, ZoneId.of("Europe/Berlin")).orElseThrow();
            assertThat(b.next(at, ZoneId.of("Europe/Berlin"))).contains(next);
            at = next;
        }
    }

    @Test
    void blanks_and_tabs_separate_and_surround() {
        CronExpression cron = CronExpression.parse(" \t 0\t2  * *\t\t* \t");

        assertThat(cron).hasToString("0\t2  * *\t\t*");
        assertThat(cron.describe()).isEqualTo("At 02:00 every day");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0 2 * * *\n",
                "0\u00a02 * * *",
                "\u0660 2 * * *",
                "0 2 * * \uff11",
                "@da\u0131ly",
                "@wee\u212aly",
                "\u0000",
                "0 2 * * \ud83d"
            })
    void other_blanks_digits_and_letters_are_refused_and_shown_in_ascii(String text) {
        assertThatThrownBy(() -> CronExpression.parse(text))
                .isInstanceOf(CronSyntaxException.class)
                .message()
                .matches("[ -~]+")
                .contains("\\u");
    }

    @Test
    void more_than_256_characters_are_refused_before_parsing() {
        String longest = "0 2 * * *" + " ".repeat(247);
        CronSyntaxException wrong =
                catchThrowableOfType(CronSyntaxException.class, () -> CronExpression.parse("*,".repeat(5_000_000)));

        assertThat(CronExpression.parse(longest)).hasToString("0 2 * * *");
        assertThatThrownBy(() -> CronExpression.parse(longest + " ")).hasMessageContaining("too long (257 characters)");
        assertThat(wrong.position()).isEqualTo(256);
        assertThat(wrong.getMessage()).hasSizeLessThan(500);
    }

    @Test
    void expressions_are_equal_if_written_alike() {
        assertThat(CronExpression.parse("0 2 * * *")).isEqualTo(CronExpression.parse(" 0 2 * * * "));
        assertThat(CronExpression.parse("0 2 * * *")).hasSameHashCodeAs(CronExpression.parse(" 0 2 * * * "));
        assertThat(CronExpression.parse("0 2 * * *")).isNotEqualTo(CronExpression.parse("00 2 * * *"));
        assertThat(CronExpression.parse("0 */2 * * *")).isNotEqualTo(CronExpression.parse("0 0/2 * * *"));
    }

    @Test
    void random_text_is_parsed_or_refused_with_a_syntax_error() {
        Random random = new Random(TestZones.seed("garbage"));
        RandomCron crons = new RandomCron(random);
        String alphabet = "0123456789*/-,LW#? \tMONFRIJANSEPlw@dailyhourly+.\u0660\u0131\n\0";
        int read = 0;
        for (int i = 0; i < 100_000; i++) {
            StringBuilder text = new StringBuilder(i % 2 == 0 ? crons.next() : "");
            for (int edits = i % 2 == 0 ? random.nextInt(3) : random.nextInt(40); edits > 0; edits--) {
                text.insert(random.nextInt(text.length() + 1), alphabet.charAt(random.nextInt(alphabet.length())));
            }
            read += isRead(text.toString()) ? 1 : 0;
        }
        assertThat(read).as("number of texts that were parsed").isBetween(5_000, 75_000);
    }

    private static boolean isRead(String text) {
        try {
            CronExpression cron = CronExpression.parse(text);
            assertThat(cron.describe()).matches("[ -~]+");
            assertThat(cron.next(Instant.EPOCH, ZoneOffset.UTC).isEmpty())
                    .as(text)
                    .isEqualTo(cron.times().isEmpty());
            return true;
        } catch (CronSyntaxException e) {
            assertThat(e.position()).as(text).isBetween(0, text.length());
            assertThat(e.getMessage().chars().allMatch(c -> c >= ' ' && c <= '~'))
                    .as(text)
                    .isTrue();
            return false;
        }
    }
}
