package io.carillon.run;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** Creates attempts for tests. */
public final class TestAttempts {
    public static final Lane LANE = new Lane("default", "default");
    public static final Instant DUE = Instant.parse("2026-01-01T00:00:00Z");

    private TestAttempts() {}

    /** Returns an attempt in the default lane. */
    public static Attempt any() {
        return failed(0);
    }

    /** Returns an attempt of a run with this number of failures. */
    public static Attempt failed(int failures) {
        return of(LANE, new Attempt.Counts(failures, 0, 0), null);
    }

    /** Returns an attempt in a lane. */
    public static Attempt in(Lane lane) {
        return of(lane, new Attempt.Counts(0, 0, 0), null);
    }

    /** Returns an attempt of a run whose nodes died this many times. */
    public static Attempt withNodeDeaths(int nodeDeaths) {
        return of(LANE, new Attempt.Counts(0, nodeDeaths, 0), null);
    }

    static Attempt of(Lane lane, Attempt.Counts counts, Attempt.References references) {
        return new Attempt(
                RunId.generate(),
                1,
                lane,
                Priority.NORMAL,
                references == null ? Origin.DIRECT : Origin.TICK,
                Target.handler("test"),
                new Payload("{}".getBytes(StandardCharsets.UTF_8), "json"),
                new Attempt.Times(references == null ? null : DUE, DUE),
                counts,
                references,
                null);
    }
}
