package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The default locale and the default time zone must not influence any result. */
class DefaultsTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    @ParameterizedTest
    @CsvSource({"tr-TR, Asia/Kolkata", "ar-EG-u-nu-arab, America/New_York", "th-TH-u-ca-buddhist-nu-thai, Pacific/Apia"
    })
    void default_locale_and_zone_have_no_influence(String locale, String zone) {
        List<String> expected = everythingInWords();
        Locale usualLocale = Locale.getDefault();
        TimeZone usualZone = TimeZone.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag(locale));
            TimeZone.setDefault(TimeZone.getTimeZone(zone));

            assertThat(everythingInWords()).isEqualTo(expected);
        } finally {
            Locale.setDefault(usualLocale);
            TimeZone.setDefault(usualZone);
        }
    }

    private static List<String> everythingInWords() {
        List<String> words = new ArrayList<>();
        Instant after = Instant.parse("2024-03-30T12:34:56Z");
        for (String text :
                List.of("@MIDNIGHT", "@daily", "30 2 * * fri", "15 10 L,15W jan-DEC FRI#1", "*/15 * * * *")) {
            CronExpression cron = CronExpression.parse(text);
            words.add(cron.describe());
            words.add(Preview.of(cron, BERLIN, DstPolicy.defaults(), after, 3).toString());
        }
        for (String text : List.of("61 * * * *", "0 0 * * MOND", "0 0 L-31 * *", "* * * *")) {
            assertThatThrownBy(() -> CronExpression.parse(text)).satisfies(wrong -> words.add(wrong.getMessage()));
        }
        Interval interval =
                Interval.every(3, ChronoUnit.DAYS, ZonedDateTime.of(2024, 1, 1, 2, 30, 0, 0, ZoneOffset.UTC));
        words.add(interval.describe() + interval.next(after));
        assertThatThrownBy(() -> Interval.every(-10, ChronoUnit.DAYS, interval.start()))
                .satisfies(wrong -> words.add(wrong.getMessage()));
        return words;
    }
}
