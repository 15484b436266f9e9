package io.carillon.schedule;

import static java.util.Objects.requireNonNull;

import io.carillon.schedule.DstPolicy.Gap;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The source of a preview: a cron expression or an interval, with its zone and its policy. */
sealed interface PreviewSource {
    ZoneId zone();

    Optional<Instant> next(Instant after);

    /**
     * Returns the first planned wall time at or after the given one; null if there is none or the interval
     * is elapsed time.
     */
    @Nullable
    LocalDateTime wallTimeAtOrAfter(LocalDateTime from);

    /** Returns whether runs planned inside the gap start immediately after it. */
    boolean runsAfterGap(ZoneOffsetTransition gap);

    record CronSource(CronExpression cron, ZoneId zone, DstPolicy policy) implements PreviewSource {
        public CronSource {
            requireNonNull(zone, "zone");
            requireNonNull(policy, "policy");
        }

        @Override
        public Optional<Instant> next(Instant after) {
            return cron.next(after, zone, policy);
        }

        @Override
        public @Nullable LocalDateTime wallTimeAtOrAfter(LocalDateTime from) {
            long found = cron.times().atOrAfter(from.toEpochSecond(ZoneOffset.UTC));
            return found == WallTimes.NONE ? null : LocalDateTime.ofEpochSecond(found, 0, ZoneOffset.UTC);
        }

        @Override
        public boolean runsAfterGap(ZoneOffsetTransition gap) {
            return WallTimeResolver.runsAfterGap(gap, cron.effectivePolicy(policy));
        }
    }

    record IntervalSource(Interval interval, DstPolicy policy) implements PreviewSource {
        public IntervalSource {
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
        public @Nullable LocalDateTime wallTimeAtOrAfter(LocalDateTime from) {
            return interval.isElapsed() ? null : interval.wallTimeAtOrAfter(from);
        }

        @Override
        public boolean runsAfterGap(ZoneOffsetTransition gap) {
            return policy.gap() == Gap.RUN_AFTER;
        }
    }
}
