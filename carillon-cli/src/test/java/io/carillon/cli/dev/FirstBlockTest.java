package io.carillon.cli.dev;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class FirstBlockTest {
    private static final Picture.Head HEAD =
            new Picture.Head("1.2.3", "embedded PostgreSQL 18.6 on 127.0.0.1:5433", "/data", "/data/carillon.log");

    private static final FirstBlock.Rest REST = new FirstBlock.Rest(
            "http://127.0.0.1:8080", "http://127.0.0.1:8080/echo", List.of("curl one", "./carillon two"));

    @Test
    void says_what_runs_on_what_and_how_to_stop_it() {
        List<Picture.Row> schedules = List.of(
                new Picture.Row("demo.hello", "Every 5 seconds", Duration.ofMillis(3_200), false),
                new Picture.Row("nightly", "At 02:00 every day (Europe/Paris)", null, true));

        assertThat(new FirstBlock(HEAD, "created, number 1", schedules, REST).text())
                .isEqualTo("""

                Carillon 1.2.3
                *** DEV MODE: to try things out. NOT FOR PRODUCTION. ***

                  database   embedded PostgreSQL 18.6 on 127.0.0.1:5433
                  schema     created, number 1
                  data       /data
                  log        /data/carillon.log
                  schedules  demo.hello  Every 5 seconds                    next in 4 s
                             nightly     At 02:00 every day (Europe/Paris)  paused
                  rest       http://127.0.0.1:8080
                  webhooks   http://127.0.0.1:8080/echo answers them; here they may call this machine (loopback)
                  try        curl one
                             ./carillon two
                  stop       Ctrl-C; the data stays
                """);
    }

    @Test
    void says_so_where_there_are_no_schedules() {
        assertThat(new FirstBlock(HEAD, "created, number 1", List.of(), REST).text())
                .contains("  schedules  none yet\n");
    }
}
