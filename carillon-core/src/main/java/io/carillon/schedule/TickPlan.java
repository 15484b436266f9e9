package io.carillon.schedule;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What one look at a schedule decided: how far the cursor moves, which ticks are born, and what becomes of instants that are too late. */
public record TickPlan(
        Schedule read, Instant cursor, Instant nextAt, List<Tick> ticks, List<Gap> gaps, List<Verdict> late) {
    public TickPlan {
        ticks = List.copyOf(ticks);
        gaps = List.copyOf(gaps);
        late = List.copyOf(late);
    }

    /** Whether it changes anything. */
    public boolean empty() {
        return ticks.isEmpty()
                && gaps.isEmpty()
                && late.isEmpty()
                && cursor.equals(read.progress().cursor());
    }

    /** A run to be born. {@code startBy} {@link Instant#MAX}: it was late already and runs whenever it can. */
    public record Tick(UUID id, Instant plannedAt, Instant dueAt, Instant startBy) {}

    /** A stretch of instants without runs, both ends inclusive. */
    public record Gap(Instant from, Instant to, long count, String state, String reason) {
        /** The reason of instants on dates that the schedule excludes. */
        public static final String EXCLUDED = "excluded date";

        boolean excluded() {
            return reason.equals(EXCLUDED);
        }
    }

    /**
     * A tick that exists, was not started in time, and is now run late, from {@code dueAt} on ({@code reason} null), or recorded as missed. It must start
     * before {@code startBy}, {@link Instant#MAX} for whenever it can.
     */
    public record Verdict(
            UUID run,
            Instant plannedAt,
            Instant dueAt,
            Instant startBy,
            @Nullable String reason) {
        public Verdict(UUID run, Instant plannedAt, Instant dueAt, @Nullable String reason) {
            this(run, plannedAt, dueAt, Instant.MAX, reason);
        }

        public boolean runsLate() {
            return reason == null;
        }
    }

    /**
     * A tick that exists and was not started in time. {@code letThrough}: an earlier plan said that it runs late; {@code heldBack}: its queue is paused, has a
     * limit or a breaker that is not closed, so it could not start.
     */
    public record LateTick(UUID run, Instant plannedAt, boolean letThrough, boolean heldBack) {
        public LateTick(UUID run, Instant plannedAt, boolean letThrough) {
            this(run, plannedAt, letThrough, false);
        }
    }
}
