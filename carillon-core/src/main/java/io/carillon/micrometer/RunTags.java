package io.carillon.micrometer;

import io.carillon.spi.RunInfo;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The labels of the meters of runs: project, handler and queue. Callers of a server choose the names of projects and
 * queues, so the number of combinations is limited: after the first {@value #MAX_COMBINATIONS} of a process, project
 * and queue of a new combination are {@value #OTHER}.
 */
final class RunTags {
    static final int MAX_COMBINATIONS = 500;
    private static final String OTHER = "other";

    private final Set<Combination> known = ConcurrentHashMap.newKeySet();
    private final Set<String> schedules = ConcurrentHashMap.newKeySet();

    private record Combination(String project, String type, String queue) {}

    /** Returns the label of a schedule, under the same limit. */
    String ofSchedule(String name) {
        return schedules.contains(name) || (schedules.size() < MAX_COMBINATIONS && schedules.add(name)) ? name : OTHER;
    }

    /** Returns the labels of a run. Two threads may exceed the limit together, by one combination each. */
    Iterable<Tag> of(RunInfo run) {
        String type = run.target().name();
        Combination combination = new Combination(run.project(), type, run.queue());
        boolean isNamed = known.contains(combination) || (known.size() < MAX_COMBINATIONS && known.add(combination));
        return Tags.of(
                "project",
                isNamed ? combination.project() : OTHER,
                "type",
                type,
                "queue",
                isNamed ? combination.queue() : OTHER);
    }
}
