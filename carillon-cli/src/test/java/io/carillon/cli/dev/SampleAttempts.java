package io.carillon.cli.dev;

import io.carillon.run.Origin;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** Attempts in the form in which a listener receives them. */
final class SampleAttempts {
    static final Instant NOW = Instant.parse("2026-06-01T12:00:00.120Z");

    private SampleAttempts() {}

    static RunId run(long number) {
        return new RunId(new UUID(0, number));
    }

    static RunInfo attempt(long run, String handler, int failuresBefore) {
        return new RunInfo(
                run(run),
                "default",
                "default",
                Target.handler(handler),
                Priority.NORMAL,
                Origin.TICK,
                failuresBefore + 1,
                failuresBefore,
                null,
                NOW);
    }

    static RunEvent started(long run, String handler, int failuresBefore) {
        return new RunEvent.AttemptStarted(attempt(run, handler, failuresBefore), Duration.ZERO, Duration.ZERO);
    }

    /** Returns the context of a handler. Only its id and its progress matter. */
    static RunContext context(long run) {
        return new RunContext() {
            @Override
            public RunId id() {
                return run(run);
            }

            @Override
            public String project() {
                return "default";
            }

            @Override
            public Instant now() {
                return NOW;
            }

            @Override
            public int attempt() {
                return 1;
            }

            @Override
            public int failures() {
                return 0;
            }

            @Override
            public Run.Policy policy() {
                return Run.Policy.none();
            }

            @Override
            public void retryBy(Retry retry) {}

            @Override
            public Optional<Instant> plannedAt() {
                return Optional.of(NOW);
            }

            @Override
            public Instant dueAt() {
                return NOW;
            }

            @Override
            public Instant deadline() {
                return NOW;
            }

            @Override
            public boolean isStopRequested() {
                return false;
            }

            @Override
            public void reportProgress(long done, long total) {}

            @Override
            public void log(String line) {}

            @Override
            public void recordDelivery(String text) {}

            @Override
            public void countAsSuccessForBreaker() {}

            @Override
            public String idempotencyKey() {
                return "key";
            }
        };
    }
}
