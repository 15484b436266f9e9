package io.carillon.cli;

import io.carillon.schedule.Preview;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.stream.Collectors;

/** What there is to say about an expression: how it was written, from when on it was asked, and its next runs. */
record CronAnswer(String expression, Instant after, Preview preview) {
    static final DateTimeFormatter SECONDS = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

    /** The instants at which it runs, one a line. */
    String instants() {
        return preview.entries().stream()
                .filter(Preview.Entry::runs)
                .map(entry -> entry.utc().toString())
                .collect(Collectors.joining("\n"));
    }

    /** The word for what a change of the clocks did to a run; empty for nothing. */
    static String word(Preview.Mark mark) {
        return mark == Preview.Mark.NONE ? "" : mark.name().toLowerCase(Locale.ROOT);
    }

    /** Why, in a few words; empty where there is nothing to explain. */
    static String why(Preview.Mark mark, String time) {
        return switch (mark) {
            case NONE -> "";
            case MOVED -> "the clocks skip " + time + ", so it runs right after the gap";
            case DROPPED -> "the clocks skip " + time + ", so it does not run";
            case DOUBLED -> "the clocks show " + time + " twice, and it runs both times";
        };
    }

    /** The wall time asked for, with its date where the run is on another. */
    static String wall(Preview.Entry entry) {
        LocalDateTime planned = entry.planned();
        LocalTime time = planned.toLocalTime();
        String shown = time.getSecond() == 0
                ? time.toString()
                : SECONDS.format(planned).substring(11);
        boolean otherDay = !planned.toLocalDate().equals(entry.local().toLocalDate());
        return otherDay ? planned.toLocalDate() + " " + shown : shown;
    }
}
