package io.carillon;

import java.util.List;
import java.util.Set;

/**
 * The result of {@link Carillon#health()}.
 *
 * @param healthy whether no issue was found
 * @param issues each issue as text, with the recommended action
 * @param kinds the kinds of the issues, for alerts and tests
 */
public record Health(boolean healthy, List<String> issues, Set<HealthIssue> kinds) {
    public Health {
        issues = List.copyOf(issues);
        kinds = Set.copyOf(kinds);
    }
}
