package io.carillon.schedule;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a preview asks of a cron expression or an interval in its zone and under its policy. */
interface Plan {
    ZoneId zone();

    Optional<Instant> next(Instant after);

    /** The first planned wall time at or after the given one; null: none, or the plan counts elapsed time. */
    @Nullable
    LocalDateTime wallAtOrAfter(LocalDateTime from);

    /** Whether runs planned inside the gap are made up for right after it. */
    boolean moves(ZoneOffsetTransition gap);
}
