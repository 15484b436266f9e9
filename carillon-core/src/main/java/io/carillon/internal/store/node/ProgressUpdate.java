package io.carillon.internal.store.node;

import io.carillon.run.Progress;
import io.carillon.run.RunId;

/** The progress of an attempt. It is written with the heartbeat if the node still owns the attempt. */
public record ProgressUpdate(String project, RunId run, int attempt, Progress progress) {}
