package io.carillon.it.race;

import io.carillon.internal.store.node.RescueResult;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The answer of one call, or of two calls that did the work together. {@code parts}: the work done, null if the answer
 * cannot be added to another.
 */
record RaceAnswer(String text, @Nullable Map<String, Integer> parts, boolean distinct, boolean more) {
    static final RaceAnswer NONE = plain("");

    /**
     * An answer that lists the work done, each item once, and states explicitly whether the caller has to
     * repeat the call.
     */
    record ExplicitAnswer(Set<String> done, boolean more) {}

    static RaceAnswer of(Object answer, Map<String, String> names) {
        String text = RaceTables.masked(String.valueOf(answer), names);
        if (answer instanceof ExplicitAnswer explicitAnswer)
            return new RaceAnswer(text, parts(explicitAnswer.done(), names), true, explicitAnswer.more());
        if (answer instanceof Integer count) return new RaceAnswer(text, Map.of("rows", count), false, true);
        if (answer instanceof RescueResult rescueResult)
            return new RaceAnswer(
                    text,
                    Map.of(
                            "nodes",
                            rescueResult.nodes(),
                            "runs",
                            rescueResult.released(),
                            "quarantined",
                            rescueResult.quarantined()),
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

    /** Returns the work of both calls. An answer that does not allow a repeat cannot be added to. */
    RaceAnswer plus(RaceAnswer later) {
        String both = text + ", and then " + later.text;
        if (!more || parts == null || later.parts == null) return plain(both);
        Map<String, Integer> sum = new TreeMap<>(parts);
        later.parts.forEach((part, count) -> sum.merge(part, count, distinct ? Math::max : Integer::sum));
        return new RaceAnswer(both, sum, distinct, later.more);
    }

    /** Returns whether the answer asks the caller to repeat the call. */
    boolean asksForRepeat() {
        return distinct && more;
    }

    /** Returns whether this answer reports the same work as the serial one; {@code twice}: it was done in two calls. */
    boolean same(RaceAnswer serial, boolean twice) {
        return twice ? parts != null && parts.equals(serial.parts) : text.equals(serial.text);
    }
}
