package io.carillon;

import java.util.List;
import java.util.Set;

/** Whether everything is all right, and if not, what is wrong and what to do: in words, and by names that stay. */
public record Health(boolean healthy, List<String> issues, Set<HealthIssue> kinds) {
    public Health {
        issues = List.copyOf(issues);
        kinds = Set.copyOf(kinds);
    }
}
