package io.carillon.cli.dev;

import io.carillon.cli.shell.DurationText;
import io.carillon.internal.run.ErrorText;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunInfo;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An event of a run as the terminal shows it, with its text for people. */
record ActivityEvent(Instant at, String schedule, String run, Kind kind, Details details) {
    private static final int LONGEST_TEXT = 200;

    enum Kind {
        SUCCEEDED,
        RETRY,
        DEAD,
        SNOOZED,
        HANDED_OVER,
        CANCELLED,
        PROGRESS,
        HANDED_BACK
    }

    /**
     * The details of an event.
     *
     * @param attempt the number of the attempt, counted from 1
     * @param took the duration of the attempt
     * @param untilNext the delay until the next attempt, or the timeout of a callback
     * @param text the error, the reason or the percentage; may be empty
     */
    record Details(int attempt, Duration took, Duration untilNext, String text) {
        Details {
            text = oneLine(text);
        }
    }

    /** Creates the event for the end of an attempt. */
    static ActivityEvent of(Instant at, RunEvent.AttemptEnded ended) {
        if (ended instanceof RunEvent.Succeeded) return of(at, ended, Kind.SUCCEEDED, Duration.ZERO, "");
        if (ended instanceof RunEvent.Failed failed)
            return of(at, ended, Kind.RETRY, failed.retryAfter(), failed.error());
        if (ended instanceof RunEvent.Dead dead) return of(at, ended, Kind.DEAD, Duration.ZERO, dead.error());
        if (ended instanceof RunEvent.Snoozed snoozed) return of(at, ended, Kind.SNOOZED, snoozed.delay(), "");
        if (ended instanceof RunEvent.AwaitingCallback awaiting)
            return of(at, ended, Kind.HANDED_OVER, awaiting.timeout(), "");
        if (ended instanceof RunEvent.Cancelled cancelled)
            return of(at, ended, Kind.CANCELLED, Duration.ZERO, cancelled.reason());
        throw new AssertionError("unknown event " + ended.getClass().getSimpleName());
    }

    private static ActivityEvent of(
            Instant at, RunEvent.AttemptEnded ended, Kind kind, Duration untilNext, String text) {
        RunInfo run = ended.run();
        return of(at, run, kind, new Details(run.failures() + 1, ended.took(), untilNext, text));
    }

    static ActivityEvent of(Instant at, RunInfo run, Kind kind, Details details) {
        return new ActivityEvent(at, run.target().name(), run.id().toString(), kind, details);
    }

    /** Creates the event for an ended run in the database. */
    static ActivityEvent of(Run run) {
        Instant ended = run.instants().endedAt() == null
                ? run.instants().dueAt()
                : run.instants().endedAt();
        Instant started =
                run.instants().startedAt() == null ? ended : run.instants().startedAt();
        String reason = run.details().reason();
        Details details = new Details(
                run.failures(), Duration.between(started, ended), Duration.ZERO, reason == null ? "" : reason);
        return new ActivityEvent(ended, run.target().name(), run.id().toString(), kind(run.state()), details);
    }

    private static Kind kind(RunState state) {
        return switch (state) {
            case SUCCEEDED -> Kind.SUCCEEDED;
            case CANCELLED -> Kind.CANCELLED;
            default -> Kind.DEAD;
        };
    }

    /** Returns the label for a table column. */
    String label() {
        return switch (kind) {
            case SUCCEEDED -> "succeeded";
            case RETRY -> "failed";
            case DEAD -> "dead";
            case SNOOZED -> "snoozed";
            case HANDED_OVER -> "accepted";
            case CANCELLED -> "cancelled";
            case PROGRESS -> "progress";
            case HANDED_BACK -> "handed back";
        };
    }

    /** Returns further information for the table; may be empty. */
    String detail() {
        return switch (kind) {
            case SUCCEEDED, HANDED_BACK, PROGRESS -> details.text;
            case RETRY ->
                "attempt %d, retry in %s: %s"
                        .formatted(details.attempt, DurationText.text(details.untilNext), details.text);
            case DEAD -> attempts() + ": " + details.text;
            case SNOOZED -> "for " + DurationText.text(details.untilNext);
            case HANDED_OVER -> "callback within " + DurationText.text(details.untilNext);
            case CANCELLED -> details.text;
        };
    }

    /** Returns the text for a plain line. */
    String sentence() {
        return switch (kind) {
            case SUCCEEDED -> "succeeded in " + DurationText.text(details.took);
            case RETRY -> "failed, retry in %s: %s".formatted(DurationText.text(details.untilNext), details.text);
            case DEAD -> "dead " + attempts() + ": " + details.text;
            case SNOOZED -> "snoozed for " + DurationText.text(details.untilNext);
            case HANDED_OVER -> "accepted, callback within " + DurationText.text(details.untilNext);
            case CANCELLED -> "cancelled: " + details.text;
            case PROGRESS -> "progress " + details.text;
            case HANDED_BACK -> "handed back, runs again at the next start";
        };
    }

    private String attempts() {
        return details.attempt == 1 ? "after 1 attempt" : "after " + details.attempt + " attempts";
    }

    /** Returns the first line without control characters, shortened to {@value #LONGEST_TEXT} characters. */
    private static String oneLine(@Nullable String text) {
        String first = text == null ? "" : ErrorText.firstLine(text.strip());
        String shown = first.codePoints()
                .map(point -> Character.isISOControl(point) ? ' ' : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        return shown.length() > LONGEST_TEXT ? shown.substring(0, LONGEST_TEXT - 3) + "..." : shown;
    }
}
