package io.carillon.internal.store.node;

import io.carillon.run.Progress;
import io.carillon.run.RunId;
import org.jspecify.annotations.Nullable;

/**
 * What an attempt reported so far. It is written with the heartbeat if the node still owns the attempt.
 *
 * @param progress null if none was reported
 * @param log the end of the log; null if it is empty
 */
public record ProgressUpdate(
        String project,
        RunId run,
        int attempt,
        @Nullable Progress progress,
        @Nullable String log) {
    public ProgressUpdate(String project, RunId run, int attempt, Progress progress) {
        this(project, run, attempt, progress, null);
    }
}
