package io.carillon.store;

import io.carillon.run.Progress;
import io.carillon.run.RunId;

/** How far a held run has come; written with the heartbeat. */
public record ProgressNote(String project, RunId run, Progress progress) {}
