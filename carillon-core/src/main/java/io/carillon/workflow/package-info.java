/**
 * Workflows: code whose steps are recorded, so that it continues after a crash where it stopped. Start at {@link
 * io.carillon.workflow.WorkflowType}, which names a workflow, and at {@link io.carillon.workflow.Flow}, by which its
 * code executes steps.
 */
@NullMarked
package io.carillon.workflow;

import org.jspecify.annotations.NullMarked;
