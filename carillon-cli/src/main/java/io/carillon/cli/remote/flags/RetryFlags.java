package io.carillon.cli.remote.flags;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** The options for retries, which runs, schedules and endpoints have. */
final class RetryFlags {
    @Option(
            names = "--attempts",
            paramLabel = "N",
            description = "Maximum number of attempts. If an option for retries is given, the default is 8.")
    private @Nullable Integer attempts;

    @Option(
            names = "--retry-first",
            paramLabel = "DURATION",
            description = "Delay after the first failed attempt. Default: 5s.")
    private @Nullable String first;

    @Option(
            names = "--retry-factor",
            paramLabel = "FACTOR",
            description = "Factor by which the delay grows with each further failure. Default: 2.")
    private @Nullable Double factor;

    @Option(names = "--retry-cap", paramLabel = "DURATION", description = "Longest delay. Default: 1h.")
    private @Nullable String cap;

    @Option(
            names = "--retry-jitter",
            paramLabel = "PART",
            description = "Part of each delay that is random, from 0 to 1. Default: 1.")
    private @Nullable Double jitter;

    /** Sets the parts of the field {@code retry} for which an option was given; the others stay. */
    void applyTo(ObjectNode body) {
        if (attempts == null && first == null && factor == null && cap == null && jitter == null) return;
        ObjectNode retry = body.get("retry") instanceof ObjectNode before ? before : body.putObject("retry");
        if (attempts != null) retry.put("attempts", attempts);
        JsonBody.putIfGiven(retry, "first", first);
        if (factor != null) retry.put("factor", factor);
        JsonBody.putIfGiven(retry, "cap", cap);
        if (jitter != null) retry.put("jitter", jitter);
    }
}
