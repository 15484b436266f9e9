package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CronDescribeTest {

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
        * * * * *              | Every minute
        */15 * * * *           | Every 15 minutes
        0/30 * * * *           | Every 30 minutes
        */7 * * * *            | At minutes 0, 7, 14, ..., 56 of every hour
        5 * * * *              | Every hour at minute 5
        @hourly                | Every hour
        5,10,20 * * * *        | At minutes 5, 10 and 20 of every hour
        0 */2 * * *            | Every 2 hours
        30 */6 * * *           | At 00:30, 06:30, 12:30 and 18:30 every day
        15 */3 * * *           | Every 3 hours at minute 15
        @daily                 | At 00:00 every day
        30 2 * * *             | At 02:30 every day
        0 9,12,17 * * *        | At 09:00, 12:00 and 17:00 every day
        0 9-17 * * MON-FRI     | Every hour from 09:00 to 17:00 on Monday to Friday
        30 8-18 * * *          | Every hour from 08:30 to 18:30
        */10 9-17 * * *        | Every 10 minutes from 09:00 to 17:59
        */10 2 * * *           | At 02:00, 02:10, 02:20, 02:30, 02:40 and 02:50 every day
        * 9,12 * * *           | Every minute in hours 9 and 12
        1-5 1,3,5-8 * * *      | At minutes 1 to 5 of hours 1, 3 and 5 to 8 every day
        @weekly                | At 00:00 on Sunday
        @monthly               | At 00:00 on day 1 of the month
        @yearly                | At 00:00 on day 1 of the month in January
        0 0 1,15 * *           | At 00:00 on days 1 and 15 of the month
        0 0 1-7 * *            | At 00:00 on days 1 to 7 of the month
        0 0 L * *              | At 00:00 on the last day of the month
        0 0 L-1,L-3 * *        | At 00:00 on 1 day before the last day and 3 days before the last day of the month
        0 0 LW * *             | At 00:00 on the last weekday of the month
        0 0 15W * *            | At 00:00 on the weekday nearest day 15 of the month
        0 0 1,L * *            | At 00:00 on day 1 and the last day of the month
        0 0 * * SAT,SUN        | At 00:00 on Saturday and Sunday
        0 0 * * FRI-SUN        | At 00:00 on Friday to Sunday
        0 0 * * FRIL           | At 00:00 on the last Friday of the month
        0 0 * * MON#2,3#3      | At 00:00 on the 2nd Monday of the month and the 3rd Wednesday of the month
        0 0 13 * FRI           | At 00:00 on day 13 of the month or on Friday
        0 0 1-31 * FRI         | At 00:00 every day
        0 0 13 * */5           | At 00:00 on day 13 of the month, only if it is Friday or Sunday
        0 0 * JAN,APR *        | At 00:00 every day in January and April
        0 0 * 6-8 1            | At 00:00 on Monday in June to August
        */5 * * 12 *           | Every 5 minutes in December
        * * * * * *            | Every second
        */10 * * * * *         | Every 10 seconds
        30 * * * * *           | At second 30 of every minute
        15 30 2 * * *          | At 02:30:15 every day
        0 30 2 * * *           | At 02:30 every day
        * 30 2 * * *           | Every second in minute 30 of hour 2
        */20 * 9-10 * * *      | Every 20 seconds from 09:00 to 10:59
        5,9 0 * * * *          | At seconds 5 and 9 in minute 0 of every hour
        0 0 30 2 *             | At 00:00 on day 30 of the month in February (never: there is no such date)
        """)
    void describes_it_in_english(String cron, String english) {
        assertThat(CronExpression.parse(cron).describe()).isEqualTo(english);
    }
}
