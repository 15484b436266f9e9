package io.carillon.run;

import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** Attempts for tests. */
public final class Attempts {
    public static final Lane LANE = new Lane("default", "default");
    public static final Instant DUE = Instant.parse("2026-01-01T00:00:00Z");

    private Attempts() {}

    /** An attempt in the default lane. */
    public static Attempt any() {
        return failed(0);
    }

    /** An attempt of a run that failed so often before. */
    public static Attempt failed(int failures) {
        return of(LANE, new Attempt.Counts(failures, 0, 0), null);
    }

    /** An attempt in a lane. */
    public static Attempt in(Lane lane) {
        return of(lane, new Attempt.Counts(0, 0, 0), null);
    }

    /** An attempt of a run whose node died this often. */
    public static Attempt suspected(int suspicions) {
        return of(LANE, new Attempt.Counts(0, suspicions, 0), null);
    }

    static Attempt of(Lane lane, Attempt.Counts counts, Attempt.Link link) {
        return new Attempt(
                RunId.next(),
                1,
                lane,
                Priority.NORMAL,
                link == null ? Origin.DIRECT : Origin.TICK,
                Target.handler("test"),
                new Payload("{}".getBytes(StandardCharsets.UTF_8), "json"),
                new Attempt.Times(link == null ? null : DUE, DUE),
                counts,
                link,
                null);
    }
}
