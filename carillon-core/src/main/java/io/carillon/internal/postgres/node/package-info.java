/**
 * Statements for nodes: registration, heartbeats, and the rescue of runs of dead nodes. Start at
 * {@link io.carillon.internal.postgres.node.NodeRepository}.
 */
@NullMarked
package io.carillon.internal.postgres.node;

import org.jspecify.annotations.NullMarked;
