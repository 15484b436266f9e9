package io.carillon.cli.dev;

import io.carillon.cli.shell.Spans;
import io.carillon.run.Attempt;
import io.carillon.run.ErrorText;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Something that happened to a run, and how to say it. */
record RunEvent(Instant at, String schedule, String run, Kind kind, Facts facts) {
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

    /** What else is known: which attempt, how long it took, how long until the next, and the error, reason or percentage. */
    record Facts(int attempt, Duration took, Duration pause, String text) {
        Facts {
            text = oneLine(text);
        }
    }

    /** The end of an attempt. */
    static RunEvent of(Instant at, Attempt attempt, Transition transition, Duration took) {
        int failures = attempt.counts().failures() + 1;
        if (transition instanceof Transition.Complete)
            return of(at, attempt, Kind.SUCCEEDED, new Facts(failures, took, Duration.ZERO, ""));
        if (transition instanceof Transition.Retry retry)
            return of(at, attempt, Kind.RETRY, new Facts(failures, took, retry.pause(), retry.error()));
        if (transition instanceof Transition.Die die)
            return of(at, attempt, Kind.DEAD, new Facts(failures, took, Duration.ZERO, die.error()));
        if (transition instanceof Transition.Snooze snooze)
            return of(at, attempt, Kind.SNOOZED, new Facts(failures, took, snooze.pause(), ""));
        if (transition instanceof Transition.Await await)
            return of(at, attempt, Kind.HANDED_OVER, new Facts(failures, took, await.atMost(), ""));
        if (transition instanceof Transition.Cancel cancel)
            return of(at, attempt, Kind.CANCELLED, new Facts(failures, took, Duration.ZERO, cancel.reason()));
        throw new AssertionError("no words for " + transition.getClass().getSimpleName());
    }

    static RunEvent of(Instant at, Attempt attempt, Kind kind, Facts facts) {
        return new RunEvent(at, attempt.target().name(), attempt.run().toString(), kind, facts);
    }

    /** An ended run as the database has it. */
    static RunEvent of(Run run) {
        Instant ended = run.instants().endedAt() == null
                ? run.instants().dueAt()
                : run.instants().endedAt();
        Instant started =
                run.instants().startedAt() == null ? ended : run.instants().startedAt();
        String reason = run.details().reason();
        Facts facts = new Facts(
                run.failures(), Duration.between(started, ended), Duration.ZERO, reason == null ? "" : reason);
        return new RunEvent(ended, run.target().name(), run.id().toString(), kind(run.state()), facts);
    }

    private static Kind kind(RunState state) {
        return switch (state) {
            case SUCCEEDED -> Kind.SUCCEEDED;
            case CANCELLED -> Kind.CANCELLED;
            default -> Kind.DEAD;
        };
    }

    /** One word or two for a column. */
    String word() {
        return switch (kind) {
            case SUCCEEDED -> "succeeded";
            case RETRY -> "failed";
            case DEAD -> "dead";
            case SNOOZED -> "snoozed";
            case HANDED_OVER -> "handed over";
            case CANCELLED -> "cancelled";
            case PROGRESS -> "progress";
            case HANDED_BACK -> "handed back";
        };
    }

    /** What a reader wants to know besides the word; may be empty. */
    String detail() {
        return switch (kind) {
            case SUCCEEDED, HANDED_BACK, PROGRESS -> facts.text;
            case RETRY -> "attempt %d, retry in %s: %s".formatted(facts.attempt, Spans.text(facts.pause), facts.text);
            case DEAD -> attempts() + ": " + facts.text;
            case SNOOZED -> "for " + Spans.text(facts.pause);
            case HANDED_OVER -> "for at most " + Spans.text(facts.pause);
            case CANCELLED -> facts.text;
        };
    }

    /** The whole sentence for a plain line. */
    String sentence() {
        return switch (kind) {
            case SUCCEEDED -> "succeeded in " + Spans.text(facts.took);
            case RETRY -> "failed, retry in %s: %s".formatted(Spans.text(facts.pause), facts.text);
            case DEAD -> "dead " + attempts() + ": " + facts.text;
            case SNOOZED -> "snoozed for " + Spans.text(facts.pause);
            case HANDED_OVER -> "handed over for at most " + Spans.text(facts.pause);
            case CANCELLED -> "cancelled: " + facts.text;
            case PROGRESS -> "progress " + facts.text;
            case HANDED_BACK -> "handed back, it runs again at the next start";
        };
    }

    private String attempts() {
        return facts.attempt == 1 ? "after 1 attempt" : "after " + facts.attempt + " attempts";
    }

    /** The first line, without characters that a terminal would obey. */
    private static String oneLine(@Nullable String text) {
        String first = text == null ? "" : ErrorText.firstLine(text.strip());
        String shown = first.codePoints()
                .map(point -> Character.isISOControl(point) ? ' ' : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        return shown.length() > LONGEST_TEXT ? shown.substring(0, LONGEST_TEXT - 3) + "..." : shown;
    }
}
