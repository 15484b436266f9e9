/**
 * The ports for nodes: registration, heartbeats, rescue, and wake-up signals. Start at
 * {@link io.carillon.internal.store.node.NodeStore}.
 */
@NullMarked
package io.carillon.internal.store.node;

import org.jspecify.annotations.NullMarked;
