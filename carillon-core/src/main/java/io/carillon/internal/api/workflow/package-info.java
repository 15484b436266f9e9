/**
 * Executes the code of workflows over their records: it replays what is recorded, executes the next steps, and undoes
 * steps. Start at {@code WorkflowExecution}. Contains no SQL. Not for users.
 */
@NullMarked
package io.carillon.internal.api.workflow;

import org.jspecify.annotations.NullMarked;
