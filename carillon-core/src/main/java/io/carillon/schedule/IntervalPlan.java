package io.carillon.schedule;

import static java.util.Objects.requireNonNull;

import io.carillon.schedule.DstPolicy.Gap;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An interval as a preview sees it. */
record IntervalPlan(Interval interval, DstPolicy policy) implements Plan {
    IntervalPlan {
        requireNonNull(policy, "policy");
    }

    @Override
    public ZoneId zone() {
        return interval.start().getZone();
    }

    @Override
    public Optional<Instant> next(Instant after) {
        return interval.next(after, policy);
    }

    @Override
    public @Nullable LocalDateTime wallAtOrAfter(LocalDateTime from) {
        return interval.isElapsed() ? null : interval.wallAtOrAfter(from);
    }

    @Override
    public boolean moves(ZoneOffsetTransition gap) {
        return policy.gap() == Gap.RUN_AFTER;
    }
}
