/**
 * Heartbeats of this node, the death of other nodes, rescue of their runs, and maintenance. Start at
 * {@link io.carillon.internal.engine.node.Heartbeat}.
 */
@NullMarked
package io.carillon.internal.engine.node;

import org.jspecify.annotations.NullMarked;
