package io.carillon.cli.dev;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class StartupBannerTest {
    private static final LiveSnapshot.Header HEADER = new LiveSnapshot.Header(
            "1.2.3", "embedded PostgreSQL 18.6 on 127.0.0.1:5433", "/data", "/data/carillon.log");

    private static final StartupBanner.RestInfo REST_INFO = new StartupBanner.RestInfo(
            "http://127.0.0.1:8080",
            new StartupBanner.Dashboard("http://127.0.0.1:8080/ui#/login/abc", "logs in", "unused"),
            "http://127.0.0.1:8080/echo",
            "dev, selected",
            List.of("curl one", "./carillon two"));

    @Test
    void shows_the_database_the_schedules_and_how_to_stop() {
        List<LiveSnapshot.ScheduleRow> schedules = List.of(
                new LiveSnapshot.ScheduleRow("demo.hello", "Every 5 seconds", Duration.ofMillis(3_200), false),
                new LiveSnapshot.ScheduleRow("nightly", "At 02:00 every day (Europe/Paris)", null, true));

        assertThat(new StartupBanner(HEADER, "created at version 1", schedules, REST_INFO).text())
                .isEqualTo("""

                Carillon 1.2.3
                *** DEV MODE: for trying things out. NOT FOR PRODUCTION. ***

                  database   embedded PostgreSQL 18.6 on 127.0.0.1:5433
                  schema     created at version 1
                  data       /data
                  log        /data/carillon.log
                  schedules  demo.hello  Every 5 seconds                    next in 4 s
                             nightly     At 02:00 every day (Europe/Paris)  paused
                  dashboard  http://127.0.0.1:8080/ui#/login/abc  (logs in)
                  rest       http://127.0.0.1:8080
                  webhooks   http://127.0.0.1:8080/echo echoes webhooks; they may call this machine (loopback)
                  profile    dev, selected
                  try        curl one
                             ./carillon two
                  stop       Ctrl-C; the data is kept
                """);
    }

    @Test
    void reports_that_there_are_no_schedules() {
        assertThat(new StartupBanner(HEADER, "created at version 1", List.of(), REST_INFO).text())
                .contains("  schedules  none yet\n");
    }
}
