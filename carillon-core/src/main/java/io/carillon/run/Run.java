package io.carillon.run;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A run as it stands now or as it ended: what {@code runs().get} answers. */
public record Run(
        RunId id,
        Lane lane,
        RunState state,
        Priority priority,
        Origin origin,
        Target target,
        int attempt,
        int failures,
        int crashes,
        Instants instants,
        Details details) {

    /** Its times, all on the database's clock. */
    public record Instants(
            Instant createdAt,
            Instant dueAt,
            @Nullable Instant plannedAt,
            @Nullable Instant startedAt,
            @Nullable Instant endedAt) {}

    /** How late its last attempt started: after the planned instant of a tick, after the due time of any other run; empty: it has not started. */
    public Optional<Duration> lateness() {
        Instant started = instants.startedAt();
        if (started == null) return Optional.empty();
        Instant expected = new Attempt.Times(instants.plannedAt(), instants.dueAt()).expectedAt(origin);
        return Optional.of(started.isBefore(expected) ? Duration.ZERO : Duration.between(expected, started));
    }

    /** What else is known: its schedule, key, why it waits (parked), its error or reason, result, log, delivery (see {@link RunContext#delivery}) and progress. */
    public record Details(
            @Nullable UUID schedule,
            @Nullable RunId parent,
            @Nullable String key,
            @Nullable String parked,
            @Nullable String reason,
            @Nullable Payload result,
            @Nullable String log,
            @Nullable String delivery,
            @Nullable Progress progress) {}
}
