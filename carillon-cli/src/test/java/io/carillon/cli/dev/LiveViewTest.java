package io.carillon.cli.dev;

import static io.carillon.cli.dev.Attempts.attempt;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.cli.screen.Line;
import io.carillon.cli.screen.Look;
import io.carillon.cli.screen.Size;
import io.carillon.run.Transition;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The live view is a function of a picture and a size: here is what it draws. */
class LiveViewTest {
    private static final Picture.Head HEAD = new Picture.Head(
            "1.2.3",
            "embedded PostgreSQL 18.6 on 127.0.0.1:5433",
            "/data/carillon/dev",
            "/data/carillon/dev/carillon.log");
    private static final List<Picture.Row> SCHEDULES = List.of(
            new Picture.Row("demo.flaky", "Every minute", Duration.ofSeconds(61), false),
            new Picture.Row("demo.hello", "Every 5 seconds", Duration.ofMillis(3_200), false),
            new Picture.Row("demo.old", "At 02:00 every day", null, true),
            new Picture.Row("demo.once", "once at 2020-01-01T00:00:00Z", null, false));
    private static final List<Board.Running> RUNNING = List.of(
            new Board.Running("demo.report", Attempts.run(1).toString(), 1, Duration.ofMillis(5_100), 0.425),
            new Board.Running("demo.flaky", Attempts.run(2).toString(), 2, Duration.ofMillis(3), -1));
    private static final List<RunEvent> LAST = List.of(
            event(3, "demo.hello", 0, new Transition.Complete(null)),
            event(2, "demo.flaky", 2, new Transition.Die("java.lang.IllegalStateException: no paper")),
            event(
                    2,
                    "demo.flaky",
                    1,
                    new Transition.Retry(
                            Duration.ofMillis(1_200), "java.lang.IllegalStateException: no paper", false)));
    private static final Picture.Condition WELL = new Picture.Condition("1 node", List.of(), "");

    @Test
    void draws_everything_on_a_usual_terminal() {
        assertThat(text(picture(WELL), new Size(80, 24), Look.BARE)).isEqualTo("""
                 Carillon 1.2.3   DEV MODE, not for production                         up 1 min
                 embedded PostgreSQL 18.6 on 127.0.0.1:5433
                 data /data/carillon/dev
                 healthy   1 node   2 running   41 succeeded   3 failed   2 dead

                 SCHEDULES
                   demo.flaky   in 1 min 1 s    Every minute
                   demo.hello   in 4 s          Every 5 seconds
                   demo.old     paused          At 02:00 every day
                   demo.once    no further run  once at 2020-01-01T00:00:00Z

                 RUNNING
                   demo.report  ##########..............   43 %     5.1 s  run_0000000000000000~
                   demo.flaky                                        3 ms  attempt 2  run_00000~

                 LAST RUNS
                   12:00:00  demo.hello   succeeded         12 ms
                   12:00:00  demo.flaky   dead              12 ms  after 3 attempts: no paper
                   12:00:00  demo.flaky   failed            12 ms  attempt 2, retry in 1.2 s: n~




                 q or Ctrl-C stops, the data stays. Log: /data/carillon/dev/carillon.log\
                """);
    }

    @Test
    void uses_the_room_and_the_signs_of_a_large_terminal() {
        String large = text(picture(WELL), new Size(160, 50), new Look(false, true));

        assertThat(large)
                .contains("● healthy")
                .contains("██████████░░░░░░░░░░░░░░   43 %     5.1 s  " + Attempts.run(1))
                .contains("✓ succeeded       12 ms  " + Attempts.run(3))
                .contains("✗ dead            12 ms  " + Attempts.run(2) + "  after 3 attempts: no paper")
                .contains("↻ failed          12 ms  " + Attempts.run(2) + "  attempt 2, retry in 1.2 s: no paper");
        assertThat(large.lines()).hasSize(50);
    }

    @Test
    void says_what_is_wrong_and_shows_the_last_warning() {
        Picture.Condition ill =
                new Picture.Condition("0 nodes", List.of("the database does not answer: gone"), "WARN the loop failed");

        assertThat(text(picture(ill), new Size(80, 24), Look.BARE))
                .contains("\n ! not well   0 nodes")
                .contains("\n ! the database does not answer: gone\n")
                .endsWith("\n ! WARN the loop failed");
    }

    @Test
    void does_not_call_healthy_what_has_not_been_looked_at_for_a_while() {
        assertThat(WELL.after(Duration.ofMillis(3_900))).isEqualTo(WELL);
        assertThat(WELL.after(Duration.ofSeconds(7)).issues()).containsExactly("the database has not answered for 7 s");
    }

    @Test
    void says_so_where_there_is_nothing_yet() {
        Picture empty =
                new Picture(HEAD, Duration.ZERO, List.of(), List.of(), List.of(), new Board.Tally(0, 0, 0), WELL);

        assertThat(text(empty, new Size(80, 24), Look.BARE))
                .contains(" SCHEDULES\n   none yet\n", " RUNNING\n   nothing just now\n", " LAST RUNS\n   none yet\n");
    }

    @Test
    void tells_how_many_did_not_fit_and_leaves_room_for_the_last_runs() {
        List<Picture.Row> many = IntStream.range(0, 40)
                .mapToObj(i -> new Picture.Row("schedule-" + i, "Every minute", Duration.ofSeconds(i), false))
                .toList();
        Picture full = new Picture(HEAD, Duration.ZERO, many, RUNNING, LAST, new Board.Tally(0, 0, 1_000), WELL);

        assertThat(text(full, new Size(80, 24), Look.BARE))
                .contains(" SCHEDULES  and 36 more", "1000+ dead", "demo.hello   succeeded")
                .endsWith("carillon.log");
    }

    @ParameterizedTest
    @CsvSource({"80, 24", "160, 50", "40, 10", "20, 5", "5, 2", "1, 1", "300, 100", "80, 9"})
    void never_outgrows_the_terminal_and_always_fills_it(int columns, int rows) {
        for (Look look : List.of(Look.BARE, new Look(false, true))) {
            List<Line> lines = LiveView.draw(picture(WELL), new Size(columns, rows), look, ZoneOffset.UTC);

            assertThat(lines).hasSize(rows);
            assertThat(lines).allSatisfy(line -> assertThat(line.text(look)).hasSizeLessThanOrEqualTo(columns));
        }
    }

    @Test
    void colours_change_nothing_but_the_colour() {
        Size size = new Size(80, 24);
        String painted = text(picture(WELL), size, new Look(true, false));

        assertThat(painted).contains("\u001b[32m").contains("\u001b[31m");
        assertThat(painted.replaceAll("\u001b\\[[0-9;]*m", "").lines().map(String::stripTrailing))
                .containsExactlyElementsOf(
                        text(picture(WELL), size, Look.BARE).lines().toList());
    }

    private static Picture picture(Picture.Condition condition) {
        return new Picture(
                HEAD, Duration.ofSeconds(60), SCHEDULES, RUNNING, LAST, new Board.Tally(41, 3, 2), condition);
    }

    private static String text(Picture picture, Size size, Look look) {
        return LiveView.draw(picture, size, look, ZoneOffset.UTC).stream()
                .map(line -> line.text(look))
                .collect(Collectors.joining("\n"));
    }

    private static RunEvent event(long run, String name, int failures, Transition transition) {
        return RunEvent.of(Attempts.NOW, attempt(run, name, failures), transition, Duration.ofMillis(12));
    }
}
