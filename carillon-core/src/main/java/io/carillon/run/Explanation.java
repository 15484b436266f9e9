package io.carillon.run;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Explains the state of a run.
 *
 * @param summary one sentence that describes the state
 * @param blockers the reasons why the run does not start or end; empty if there are none
 * @param signal the name of the signal for which a workflow waits; null if it waits for none
 */
public record Explanation(
        RunState state,
        String summary,
        List<String> blockers,
        @Nullable String signal) {
    /** Creates an explanation. */
    public Explanation {
        blockers = List.copyOf(blockers);
    }

    /** Creates an explanation of a run that does not wait for a signal. */
    public Explanation(RunState state, String summary, List<String> blockers) {
        this(state, summary, blockers, null);
    }
}
