package io.carillon.event;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Selects events by topic and type. Each part is a name, or the beginning of a name followed by {@code *}.
 *
 * @param topic the pattern of the topic, such as {@code orders} or {@code *}
 * @param types the patterns of the type, such as {@code order.*}; an event must match one of them
 */
public record EventPattern(String topic, List<String> types) {
    private static final Pattern VALID = Pattern.compile("[a-z0-9._-]{1,100}|[a-z0-9._-]{0,99}\\*");
    private static final int MAX_TYPES = 20;

    public EventPattern {
        types = List.copyOf(types);
        check("topic", topic);
        types.forEach(type -> check("type", type));
        if (types.isEmpty() || types.size() > MAX_TYPES)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "An event pattern must have 1 to %d types (has %d).".formatted(MAX_TYPES, types.size()));
    }

    /** Returns the pattern of all events of a topic, or of all topics that match. */
    public static EventPattern topic(String topic) {
        return of(topic, "*");
    }

    /** Returns a pattern with this topic and these types. */
    public static EventPattern of(String topic, String... types) {
        return new EventPattern(topic, List.of(types));
    }

    /** Returns whether an event with this topic and type is selected. */
    public boolean matches(String eventTopic, String eventType) {
        return matchesPart(topic, eventTopic) && types.stream().anyMatch(type -> matchesPart(type, eventType));
    }

    private static boolean matchesPart(String pattern, String name) {
        return pattern.endsWith("*")
                ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                : name.equals(pattern);
    }

    private static void check(String kind, String pattern) {
        if (VALID.matcher(pattern).matches()) return;
        throw new CarillonException(
                ErrorCode.INVALID_NAME,
                ("The %s pattern '%s' is not valid. Use 1 to 100 characters of a-z, 0-9, dot, underscore and hyphen; a"
                                + " * is allowed at the end only.")
                        .formatted(kind, pattern.length() > 60 ? pattern.substring(0, 60) + "…" : pattern));
    }
}
