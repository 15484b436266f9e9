package io.carillon.internal.run;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.run.Outcome;
import io.carillon.schedule.ScheduleId;
import io.carillon.spi.ContextPropagator;
import io.carillon.spi.RunInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The headers that the context propagators store with a run. The stored form is one text with one line per header. */
public record RunHeaders(List<ContextPropagator> propagators) {
    private static final Pattern NAME_PATTERN = Pattern.compile("[a-z][a-z0-9-]{0,99}");
    private static final int MAX_LENGTH = 16 * 1024;

    public RunHeaders {
        propagators = List.copyOf(propagators);
    }

    /** Returns the run with the headers that the propagators capture for it. */
    public NewRun addTo(NewRun run) {
        if (propagators.isEmpty()) return run;
        RunInfo info = RunInfos.of(run);
        Map<String, String> all = new LinkedHashMap<>();
        propagators.forEach(propagator -> all.putAll(propagator.capture(info)));
        return all.isEmpty() ? run : run.withHeaders(serialize(all));
    }

    /** Returns the headers for the runs of a schedule; null if there are none. */
    public @Nullable String forSchedule(ScheduleId schedule) {
        Map<String, String> all = new LinkedHashMap<>();
        propagators.forEach(propagator -> all.putAll(propagator.captureForSchedule(schedule)));
        return all.isEmpty() ? null : serialize(all);
    }

    /** Executes an attempt inside all propagators. */
    public Outcome runWithContext(Attempt attempt, ContextPropagator.AttemptCall attemptCall) throws Exception {
        if (propagators.isEmpty()) return attemptCall.call();
        return runWithContext(
                0,
                RunInfos.of(attempt),
                parse(attempt.references() == null ? null : attempt.references().headers()),
                attemptCall);
    }

    private Outcome runWithContext(
            int next, RunInfo run, Map<String, String> headers, ContextPropagator.AttemptCall attemptCall)
            throws Exception {
        if (next == propagators.size()) return attemptCall.call();
        return propagators
                .get(next)
                .runWithContext(run, headers, () -> runWithContext(next + 1, run, headers, attemptCall));
    }

    private static String serialize(Map<String, String> all) {
        StringBuilder text = new StringBuilder();
        all.forEach((name, value) -> {
            if (!NAME_PATTERN.matcher(name).matches() || value.chars().anyMatch(c -> c < ' '))
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        ("A context propagator returned the invalid header '%s': names consist of lowercase letters,"
                                        + " digits and hyphens, values contain no control characters.")
                                .formatted(name));
            text.append(name).append('=').append(value).append('\n');
        });
        if (text.length() > MAX_LENGTH)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The headers of a run have %d characters; at most %d are allowed."
                            .formatted(text.length(), MAX_LENGTH));
        return text.toString();
    }

    static Map<String, String> parse(@Nullable String text) {
        Map<String, String> all = new LinkedHashMap<>();
        if (text != null)
            text.lines().filter(line -> line.indexOf('=') > 0).forEach(line -> {
                int equals = line.indexOf('=');
                all.put(line.substring(0, equals), line.substring(equals + 1));
            });
        return all;
    }
}
