package io.carillon.cli.dev;

import static io.carillon.cli.dev.SampleAttempts.attempt;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.cli.screen.Line;
import io.carillon.cli.screen.RenderOptions;
import io.carillon.cli.screen.Size;
import io.carillon.spi.RunEvent;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The live view is a function of a snapshot and a terminal size. */
class LiveViewTest {
    private static final LiveSnapshot.Header HEADER = new LiveSnapshot.Header(
            "1.2.3",
            "embedded PostgreSQL 18.6 on 127.0.0.1:5433",
            "/data/carillon/dev",
            "/data/carillon/dev/carillon.log");
    private static final List<LiveSnapshot.ScheduleRow> SCHEDULES = List.of(
            new LiveSnapshot.ScheduleRow("demo.fails", "Every minute", Duration.ofSeconds(61), false),
            new LiveSnapshot.ScheduleRow("demo.hello", "Every 5 seconds", Duration.ofMillis(3_200), false),
            new LiveSnapshot.ScheduleRow("demo.old", "At 02:00 every day", null, true),
            new LiveSnapshot.ScheduleRow("demo.once", "once at 2020-01-01T00:00:00Z", null, false));
    private static final List<RunActivity.ActiveRun> RUNNING = List.of(
            new RunActivity.ActiveRun(
                    "demo.report", SampleAttempts.run(1).toString(), 1, Duration.ofMillis(5_100), 0.425),
            new RunActivity.ActiveRun("demo.fails", SampleAttempts.run(2).toString(), 2, Duration.ofMillis(3), -1));
    private static final List<ActivityEvent> LAST = List.of(
            event(new RunEvent.Succeeded(attempt(3, "demo.hello", 0), Duration.ofMillis(12))),
            event(new RunEvent.Dead(
                    attempt(2, "demo.fails", 2), Duration.ofMillis(12), "java.lang.IllegalStateException: no paper")),
            event(new RunEvent.Failed(
                    attempt(2, "demo.fails", 1),
                    Duration.ofMillis(12),
                    "java.lang.IllegalStateException: no paper",
                    false,
                    Duration.ofMillis(1_200))));
    private static final StartupBanner.Dashboard DASHBOARD = new StartupBanner.Dashboard(
            "http://127.0.0.1:8080/ui#/login/x",
            "logs in, once",
            "http://127.0.0.1:8080/ui  (log in with the key in k)");
    private static final LiveSnapshot.Condition HEALTHY = new LiveSnapshot.Condition("1 node", List.of(), "");

    @Test
    void draws_everything_on_a_terminal_of_default_size() {
        assertThat(text(snapshot(HEALTHY), new Size(80, 24), RenderOptions.PLAIN_ASCII))
                .isEqualTo("""
                 Carillon 1.2.3   DEV MODE, not for production                         up 1 min
                 embedded PostgreSQL 18.6 on 127.0.0.1:5433
                 data /data/carillon/dev
                 healthy   1 node   2 running   41 succeeded   3 failed   2 dead

                 SCHEDULES
                   demo.fails   in 1 min 1 s    Every minute
                   demo.hello   in 4 s          Every 5 seconds
                   demo.old     paused          At 02:00 every day
                   demo.once    no further run  once at 2020-01-01T00:00:00Z

                 RUNNING
                   demo.report  ##########..............   43 %     5.1 s  run_0000000000000000~
                   demo.fails                                        3 ms  attempt 2  run_00000~

                 LAST RUNS
                   12:00:00  demo.hello   succeeded         12 ms
                   12:00:00  demo.fails   dead              12 ms  after 3 attempts: no paper
                   12:00:00  demo.fails   failed            12 ms  attempt 2, retry in 1.2 s: n~




                 q or Ctrl-C stops; the data is kept. Log: /data/carillon/dev/carillon.log\
                """);
    }

    @Test
    void uses_the_space_and_symbols_of_a_large_terminal() {
        String large = text(snapshot(HEALTHY), new Size(160, 50), new RenderOptions(false, true));

        assertThat(large)
                .contains("● healthy")
                .contains("██████████░░░░░░░░░░░░░░   43 %     5.1 s  " + SampleAttempts.run(1))
                .contains("✓ succeeded       12 ms  " + SampleAttempts.run(3))
                .contains("✗ dead            12 ms  " + SampleAttempts.run(2) + "  after 3 attempts: no paper")
                .contains(
                        "↻ failed          12 ms  " + SampleAttempts.run(2) + "  attempt 2, retry in 1.2 s: no paper");
        assertThat(large.lines()).hasSize(50);
    }

    @Test
    void keeps_the_commands_to_try_in_view_where_they_fit() {
        LiveSnapshot.Header header = HEADER.with(new StartupBanner.RestInfo(
                "http://127.0.0.1:8080",
                DASHBOARD,
                "http://127.0.0.1:8080/echo",
                "dev",
                List.of("curl x", "carillon run list")));
        LiveSnapshot tried = at(header, Duration.ZERO);

        assertThat(text(tried, new Size(80, 24), RenderOptions.PLAIN_ASCII))
                .contains("\n try carillon run list\n")
                .doesNotContain("curl");
        assertThat(text(tried, new Size(80, 12), RenderOptions.PLAIN_ASCII)).doesNotContain(" try ");
    }

    /** The live view hides the lines that were printed before it. */
    @Test
    void keeps_the_login_link_of_the_dashboard_in_view_until_it_expires() {
        LiveSnapshot.Header header = HEADER.with(new StartupBanner.RestInfo(
                "http://127.0.0.1:8080", DASHBOARD, "http://127.0.0.1:8080/echo", "dev", List.of()));

        assertThat(text(at(header, Duration.ofMinutes(9)), new Size(80, 24), RenderOptions.PLAIN_ASCII))
                .contains("\n dashboard http://127.0.0.1:8080/ui#/login/x\n");
        assertThat(text(at(header, Duration.ofMinutes(10)), new Size(80, 24), RenderOptions.PLAIN_ASCII))
                .contains("\n dashboard http://127.0.0.1:8080/ui  (log in with the key in k)\n");
    }

    private static LiveSnapshot at(LiveSnapshot.Header header, Duration uptime) {
        return new LiveSnapshot(header, uptime, SCHEDULES, RUNNING, LAST, new RunActivity.Totals(0, 0, 0), HEALTHY);
    }

    @Test
    void a_command_that_is_too_long_can_be_copied_from_two_lines() {
        LiveSnapshot.Header header = HEADER.with(new StartupBanner.RestInfo(
                "http://127.0.0.1:8080",
                DASHBOARD,
                "http://127.0.0.1:8080/echo",
                "dev",
                List.of(
                        "./carillon schedule create my.hook --every 10s --webhook http://127.0.0.1:8080/echo",
                        "b",
                        "c")));
        LiveSnapshot tried = new LiveSnapshot(
                header, Duration.ZERO, SCHEDULES, RUNNING, LAST, new RunActivity.Totals(0, 0, 0), HEALTHY);

        assertThat(text(tried, new Size(80, 24), RenderOptions.PLAIN_ASCII))
                .contains("create my.hook --every 10s \\\n         --webhook http://127.0.0.1:8080/echo\n try b\n")
                .doesNotContain(" try c");
        assertThat(text(tried, new Size(100, 30), RenderOptions.PLAIN_ASCII))
                .contains(" --every 10s --webhook http://127.0.0.1:8080/echo\n", " try c\n");
    }

    @Test
    void shows_issues_and_the_last_warning() {
        LiveSnapshot.Condition ill = new LiveSnapshot.Condition(
                "0 nodes", List.of("the database does not answer: gone"), "WARN the loop failed");

        assertThat(text(snapshot(ill), new Size(80, 24), RenderOptions.PLAIN_ASCII))
                .contains("\n ! unhealthy   0 nodes")
                .contains("\n ! the database does not answer: gone\n")
                .endsWith("\n ! WARN the loop failed");
    }

    @Test
    void reports_a_status_that_is_too_old_as_unhealthy() {
        assertThat(HEALTHY.checkedFor(Duration.ofMillis(3_900))).isEqualTo(HEALTHY);
        assertThat(HEALTHY.checkedFor(Duration.ofSeconds(7)).issues())
                .containsExactly("the database has not answered for 7 s");
    }

    @Test
    void shows_placeholders_without_schedules_and_runs() {
        LiveSnapshot empty = new LiveSnapshot(
                HEADER, Duration.ZERO, List.of(), List.of(), List.of(), new RunActivity.Totals(0, 0, 0), HEALTHY);

        assertThat(text(empty, new Size(80, 24), RenderOptions.PLAIN_ASCII))
                .contains(" SCHEDULES\n   none yet\n", " RUNNING\n   none\n", " LAST RUNS\n   none yet\n");
    }

    @Test
    void shows_how_many_did_not_fit_and_leaves_space_for_recent_runs() {
        List<LiveSnapshot.ScheduleRow> many = IntStream.range(0, 40)
                .mapToObj(i ->
                        new LiveSnapshot.ScheduleRow("schedule-" + i, "Every minute", Duration.ofSeconds(i), false))
                .toList();
        LiveSnapshot full = new LiveSnapshot(
                HEADER, Duration.ZERO, many, RUNNING, LAST, new RunActivity.Totals(0, 0, 1_000), HEALTHY);

        assertThat(text(full, new Size(80, 24), RenderOptions.PLAIN_ASCII))
                .contains(" SCHEDULES  and 36 more", "1000+ dead", "demo.hello   succeeded")
                .endsWith("carillon.log");
    }

    @ParameterizedTest
    @CsvSource({"80, 24", "160, 50", "40, 10", "20, 5", "5, 2", "1, 1", "300, 100", "80, 9"})
    void always_fits_and_fills_the_terminal(int columns, int rows) {
        for (RenderOptions renderOptions : List.of(RenderOptions.PLAIN_ASCII, new RenderOptions(false, true))) {
            List<Line> lines = LiveView.draw(snapshot(HEALTHY), new Size(columns, rows), renderOptions, ZoneOffset.UTC);

            assertThat(lines).hasSize(rows);
            assertThat(lines)
                    .allSatisfy(line -> assertThat(line.text(renderOptions)).hasSizeLessThanOrEqualTo(columns));
        }
    }

    @Test
    void colors_do_not_change_the_text() {
        Size size = new Size(80, 24);
        String painted = text(snapshot(HEALTHY), size, new RenderOptions(true, false));

        assertThat(painted).contains("\u001b[32m").contains("\u001b[31m");
        assertThat(painted.replaceAll("\u001b\\[[0-9;]*m", "").lines().map(String::stripTrailing))
                .containsExactlyElementsOf(text(snapshot(HEALTHY), size, RenderOptions.PLAIN_ASCII)
                        .lines()
                        .toList());
    }

    private static LiveSnapshot snapshot(LiveSnapshot.Condition condition) {
        return new LiveSnapshot(
                HEADER, Duration.ofSeconds(60), SCHEDULES, RUNNING, LAST, new RunActivity.Totals(41, 3, 2), condition);
    }

    private static String text(LiveSnapshot snapshot, Size size, RenderOptions renderOptions) {
        return LiveView.draw(snapshot, size, renderOptions, ZoneOffset.UTC).stream()
                .map(line -> line.text(renderOptions))
                .collect(Collectors.joining("\n"));
    }

    private static ActivityEvent event(RunEvent.AttemptEnded ended) {
        return ActivityEvent.of(SampleAttempts.NOW, ended);
    }
}
