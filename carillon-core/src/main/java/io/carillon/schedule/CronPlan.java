package io.carillon.schedule;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A cron expression as a preview sees it. */
record CronPlan(CronExpression cron, ZoneId zone, DstPolicy policy) implements Plan {
    CronPlan {
        requireNonNull(zone, "zone");
        requireNonNull(policy, "policy");
    }

    @Override
    public Optional<Instant> next(Instant after) {
        return cron.next(after, zone, policy);
    }

    @Override
    public @Nullable LocalDateTime wallAtOrAfter(LocalDateTime from) {
        long found = cron.times().atOrAfter(from.toEpochSecond(ZoneOffset.UTC));
        return found == WallTimes.NONE ? null : LocalDateTime.ofEpochSecond(found, 0, ZoneOffset.UTC);
    }

    @Override
    public boolean moves(ZoneOffsetTransition gap) {
        return DstWalk.moves(gap, cron.effective(policy));
    }
}
