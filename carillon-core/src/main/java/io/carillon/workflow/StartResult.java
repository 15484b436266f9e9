package io.carillon.workflow;

import io.carillon.run.RunId;

/** The result of starting a workflow: it was started, or a workflow of the type has the id. */
public sealed interface StartResult {
    /** Returns the run of the started or the existing workflow. */
    RunId run();

    /** The workflow was started. In a caller's transaction it becomes visible when that transaction commits. */
    record Started(RunId run) implements StartResult {}

    /** A workflow with this id exists, or has ended while the id is still held; nothing was stored. */
    record Duplicate(RunId run) implements StartResult {}
}
