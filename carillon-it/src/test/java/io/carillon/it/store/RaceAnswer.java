package io.carillon.it.store;

import io.carillon.store.Swept;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a caller was told by one call, or by two that did the work together. {@code parts}: what was done, where an answer can be added to another. */
record RaceAnswer(String text, @Nullable Map<String, Integer> parts, boolean distinct, boolean more) {
    static final RaceAnswer NONE = plain("");

    /** An answer that says what was done, each once, and explicitly whether the caller has to come again. */
    record Told(Set<String> done, boolean more) {}

    static RaceAnswer of(Object answer, Map<String, String> names) {
        String text = RaceTables.masked(String.valueOf(answer), names);
        if (answer instanceof Told told) return new RaceAnswer(text, parts(told.done(), names), true, told.more());
        if (answer instanceof Integer count) return new RaceAnswer(text, Map.of("rows", count), false, true);
        if (answer instanceof Swept swept)
            return new RaceAnswer(
                    text,
                    Map.of("nodes", swept.nodes(), "runs", swept.released(), "quarantined", swept.quarantined()),
                    false,
                    true);
        if (answer instanceof Collection<?> some) return new RaceAnswer(text, parts(some, names), false, true);
        return plain(text);
    }

    static RaceAnswer plain(String text) {
        return new RaceAnswer(text, null, false, false);
    }

    private static Map<String, Integer> parts(Collection<?> done, Map<String, String> names) {
        Map<String, Integer> parts = new TreeMap<>();
        for (Object one : done) parts.merge(RaceTables.masked(String.valueOf(one), names), 1, Integer::sum);
        return parts;
    }

    /** What both calls did; an answer that does not let its caller come again cannot be added to. */
    RaceAnswer plus(RaceAnswer later) {
        String both = text + ", and then " + later.text;
        if (!more || parts == null || later.parts == null) return plain(both);
        Map<String, Integer> sum = new TreeMap<>(parts);
        later.parts.forEach((part, count) -> sum.merge(part, count, distinct ? Math::max : Integer::sum));
        return new RaceAnswer(both, sum, distinct, later.more);
    }

    /** Whether the caller is asked to come again. */
    boolean asks() {
        return distinct && more;
    }

    /** Whether this tells of the same work, in one call or in two. */
    boolean same(RaceAnswer serial, boolean twice) {
        return twice ? parts != null && parts.equals(serial.parts) : text.equals(serial.text);
    }
}
