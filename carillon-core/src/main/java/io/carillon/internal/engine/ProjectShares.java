package io.carillon.internal.engine;

import io.carillon.internal.store.event.EventDispatchStore.Head;
import io.carillon.internal.store.event.EventDispatchStore.NewRuns;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What each project has used of a round of the dispatcher. The subscriptions of a project that has used its share get
 * cursors of their own, so that the events of other projects do not wait: {@link CursorDispatcher} serves the projects
 * in turn.
 */
final class ProjectShares {
    private static final long MAX_RUNS = 10_000;
    /** Many subscriptions that compare many patterns take time also without creating runs. */
    private static final long MAX_NANOS = Duration.ofSeconds(2).toNanos();

    private final Map<String, Long> runs = new HashMap<>();
    private final Map<String, Long> nanos = new HashMap<>();

    void beginRound() {
        runs.clear();
        nanos.clear();
    }

    /** Records a statement; each of its events has taken the same part of its time. */
    void record(List<Head> events, List<NewRuns> created, long statementNanos) {
        created.forEach(each -> runs.merge(each.project(), each.runs(), Long::sum));
        events.forEach(each -> nanos.merge(each.project(), statementNanos / events.size(), Long::sum));
    }

    /** Returns the projects that have used their share. */
    Set<String> used() {
        return nanos.keySet().stream()
                .filter(project ->
                        runs.getOrDefault(project, 0L) > MAX_RUNS || nanos.getOrDefault(project, 0L) > MAX_NANOS)
                .collect(Collectors.toUnmodifiableSet());
    }
}
