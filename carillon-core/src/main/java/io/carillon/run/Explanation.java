package io.carillon.run;

import java.util.List;

/**
 * Explains the state of a run.
 *
 * @param summary one sentence that describes the state
 * @param blockers the reasons why the run does not start or end; empty if there are none
 */
public record Explanation(RunState state, String summary, List<String> blockers) {
    public Explanation {
        blockers = List.copyOf(blockers);
    }
}
