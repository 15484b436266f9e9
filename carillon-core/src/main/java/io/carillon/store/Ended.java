package io.carillon.store;

import io.carillon.run.Attempt;
import io.carillon.run.Transition;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One attempt that is over: what was decided, how long ago it started, and its log, if it wrote one. */
public record Ended(
        Attempt attempt,
        Transition transition,
        Duration sinceStart,
        @Nullable String log) {}
