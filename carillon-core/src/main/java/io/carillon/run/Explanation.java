package io.carillon.run;

import java.util.List;

/** Why a run is where it is: one plain sentence, and what holds it back, if anything. */
public record Explanation(RunState state, String summary, List<String> holds) {
    public Explanation {
        holds = List.copyOf(holds);
    }
}
