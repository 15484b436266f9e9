/**
 * The ports for nodes: registration, heartbeats, rescue, and wake-up hints. Start at
 * {@link io.carillon.internal.store.node.NodeStore}.
 */
@NullMarked
package io.carillon.internal.store.node;

import org.jspecify.annotations.NullMarked;
