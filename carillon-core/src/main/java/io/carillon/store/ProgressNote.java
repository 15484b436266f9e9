package io.carillon.store;

import io.carillon.run.Progress;
import io.carillon.run.RunId;

/** How far an attempt has come; written with the heartbeat if the node still holds that attempt. */
public record ProgressNote(String project, RunId run, int attempt, Progress progress) {}
