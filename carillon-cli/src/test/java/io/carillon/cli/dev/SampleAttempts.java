package io.carillon.cli.dev;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** Attempts in the form in which the engine passes them to a listener. */
final class SampleAttempts {
    static final Instant NOW = Instant.parse("2026-06-01T12:00:00.120Z");

    private SampleAttempts() {}

    static RunId run(long number) {
        return new RunId(new UUID(0, number));
    }

    static Attempt attempt(long run, String handler, int failuresBefore) {
        return new Attempt(
                run(run),
                failuresBefore + 1,
                new Lane("default", "default"),
                Priority.NORMAL,
                Origin.TICK,
                new Target(Target.HANDLER, handler),
                new Payload("{}".getBytes(StandardCharsets.UTF_8), "json"),
                new Attempt.Times(NOW, NOW),
                new Attempt.Counts(failuresBefore, 0, 0),
                null,
                null);
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
            public boolean isCancelled() {
                return false;
            }

            @Override
            public void reportProgress(long done, long total) {}

            @Override
            public void log(String line) {}

            @Override
            public void recordDelivery(String text) {}

            @Override
            public String idempotencyKey() {
                return "key";
            }
        };
    }
}
