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

/** What a preview asks of a cron expression or an interval in its zone and under its policy. */
sealed interface Plan {
    ZoneId zone();

    Optional<Instant> next(Instant after);

    /** The first planned wall time at or after the given one; null: none, or the plan counts elapsed time. */
    @Nullable
    LocalDateTime wallAtOrAfter(LocalDateTime from);

    /** Whether runs planned inside the gap are made up for right after it. */
    boolean moves(ZoneOffsetTransition gap);

    record OfCron(CronExpression cron, ZoneId zone, DstPolicy policy) implements Plan {
        public OfCron {
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

    record OfInterval(Interval interval, DstPolicy policy) implements Plan {
        public OfInterval {
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
}
