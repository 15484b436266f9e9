package io.carillon;

import io.carillon.internal.value.TextCleaner;
import io.carillon.internal.value.Years;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a schedule or queue is paused. Immutable; each method returns a changed copy. */
public final class PauseOptions {
    private static final int MAX_REASON = 1_000;
    private static final int MAX_BY = 200;

    private final @Nullable Instant end;
    private final @Nullable String reason;
    private final String by;

    private PauseOptions(@Nullable Instant end, @Nullable String reason, String by) {
        this.end = end;
        this.reason = reason;
        this.by = by;
    }

    /** Returns options for a pause that only a resume ends. */
    public static PauseOptions untilResumed() {
        return new PauseOptions(null, null, "library");
    }

    /**
     * Returns options for a pause that ends automatically, or earlier by a resume. A planned instant exactly at the end
     * runs. A queue cannot be paused with an end.
     */
    public static PauseOptions until(Instant end) {
        Years.check("end of the pause", end);
        return new PauseOptions(end, null, "library");
    }

    /** Sets why the schedule or queue is paused; at most 1,000 characters are kept. Default: no reason. */
    public PauseOptions reason(String reason) {
        return new PauseOptions(end, TextCleaner.clean(reason, MAX_REASON), by);
    }

    /**
     * Sets the person or program that pauses the schedule or queue; at most 200 characters are kept. Default:
     * {@code library}.
     */
    public PauseOptions by(String by) {
        return new PauseOptions(end, reason, TextCleaner.clean(by, MAX_BY));
    }

    /** Returns when the pause ends automatically; null if only a resume ends it. */
    public @Nullable Instant end() {
        return end;
    }

    /** Returns why the schedule or queue is paused; null if no reason is set. */
    public @Nullable String reason() {
        return reason;
    }

    /** Returns the person or program that pauses the schedule or queue. */
    public String by() {
        return by;
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(end, reason, by);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PauseOptions that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "PauseOptions[end=%s, reason=%s, by=%s]".formatted(end, reason, by);
    }
}
