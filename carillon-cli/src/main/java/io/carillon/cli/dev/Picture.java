package io.carillon.cli.dev;

import io.carillon.cli.shell.Spans;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** All that one frame of the live view shows; drawing it needs no clock and no database. */
record Picture(
        Head head,
        Duration up,
        List<Row> schedules,
        List<Board.Running> running,
        List<RunEvent> last,
        Board.Tally tally,
        Condition condition) {

    /** What stays the same from start to end. */
    record Head(String version, String database, String data, String log) {
        /** The same for a screen that hides the first lines. */
        Head with(FirstBlock.Rest rest) {
            return new Head(version, database + ", REST on " + rest.url(), data, log);
        }
    }

    /** A schedule: its timing in English, and how long until its next run. */
    record Row(String name, String english, @Nullable Duration next, boolean paused) {}

    /** How the node fares: what is wrong, if anything, and the last warning in the log. */
    record Condition(String node, List<String> issues, String warning) {
        private static final Duration SILENCE = Duration.ofSeconds(4);

        boolean healthy() {
            return issues.isEmpty();
        }

        /** Nobody knows better than the last look, and a look at a database that hangs does not end. */
        Condition after(Duration sinceLook) {
            if (sinceLook.compareTo(SILENCE) < 0) return this;
            return new Condition(
                    node, List.of("the database has not answered for " + Spans.countdown(sinceLook)), warning);
        }
    }
}
