package io.carillon.run;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What all companions of a run packed, as the one text that is stored with it: a line for each. */
public record Luggage(List<Companion> companions) {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,99}");
    private static final int MOST = 16 * 1024;

    public Luggage {
        companions = List.copyOf(companions);
    }

    /** The run with what its companions packed. */
    public NewRun packed(NewRun run) {
        if (companions.isEmpty()) return run;
        Map<String, String> all = new LinkedHashMap<>();
        companions.forEach(companion -> all.putAll(companion.pack(run)));
        return all.isEmpty() ? run : run.carrying(text(all));
    }

    /** What shall travel with the runs of a schedule; null: nothing. */
    public @Nullable String ofSchedule(UUID schedule) {
        Map<String, String> all = new LinkedHashMap<>();
        companions.forEach(companion -> all.putAll(companion.packSchedule(schedule)));
        return all.isEmpty() ? null : text(all);
    }

    /** Runs the rest of an attempt inside all companions. */
    public Outcome around(Attempt attempt, Companion.Rest rest) throws Exception {
        if (companions.isEmpty()) return rest.run();
        return around(
                0,
                attempt,
                unpacked(attempt.link() == null ? null : attempt.link().trace()),
                rest);
    }

    private Outcome around(int next, Attempt attempt, Map<String, String> packed, Companion.Rest rest)
            throws Exception {
        if (next == companions.size()) return rest.run();
        return companions.get(next).unpack(attempt, packed, () -> around(next + 1, attempt, packed, rest));
    }

    private static String text(Map<String, String> all) {
        StringBuilder text = new StringBuilder();
        all.forEach((name, value) -> {
            if (!NAME.matcher(name).matches() || value.chars().anyMatch(c -> c < ' '))
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "A companion packed '%s': names are small letters and hyphens, values have no control characters."
                                .formatted(name));
            text.append(name).append('=').append(value).append('\n');
        });
        if (text.length() > MOST)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The companions of a run packed %d characters; at most %d are allowed."
                            .formatted(text.length(), MOST));
        return text.toString();
    }

    static Map<String, String> unpacked(@Nullable String text) {
        Map<String, String> all = new LinkedHashMap<>();
        if (text != null)
            text.lines().filter(line -> line.indexOf('=') > 0).forEach(line -> {
                int equals = line.indexOf('=');
                all.put(line.substring(0, equals), line.substring(equals + 1));
            });
        return all;
    }
}
