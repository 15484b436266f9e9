package io.carillon;

import java.util.List;

/** Whether everything is all right, and if not, what is wrong and what to do. */
public record Health(boolean healthy, List<String> issues) {
    public Health {
        issues = List.copyOf(issues);
    }
}
