package io.carillon.cli;

import io.carillon.schedule.Preview;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A cron expression with its next runs.
 *
 * @param expression the text of the expression
 * @param after the instant after which the runs were computed
 * @param preview the next runs
 */
record CronExplanation(String expression, Instant after, Preview preview) {
    static final DateTimeFormatter SECONDS = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

    /** Returns the instants of the runs, one per line. */
    String instants() {
        return preview.entries().stream()
                .filter(Preview.Entry::willRun)
                .map(entry -> entry.utc().toString())
                .collect(Collectors.joining("\n"));
    }

    /** Returns the word for the effect of a clock change on a run; empty if there is no effect. */
    static String markText(Preview.Mark mark) {
        return mark == Preview.Mark.NONE ? "" : mark.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the reason for the mark; empty if the run has no mark. */
    static String markReason(Preview.Mark mark, String time) {
        return switch (mark) {
            case NONE -> "";
            case MOVED -> "the clocks skip " + time + "; the run starts right after the gap";
            case DROPPED -> "the clocks skip " + time + "; there is no run";
            case DOUBLED -> "the clocks show " + time + " twice; there are two runs";
        };
    }

    /** Returns the planned wall-clock time, with its date if the run is on another day. */
    static String wallTime(Preview.Entry entry) {
        LocalDateTime planned = entry.planned();
        LocalTime time = planned.toLocalTime();
        String shown = time.getSecond() == 0
                ? time.toString()
                : SECONDS.format(planned).substring(11);
        boolean otherDay = !planned.toLocalDate().equals(entry.local().toLocalDate());
        return otherDay ? planned.toLocalDate() + " " + shown : shown;
    }
}
