/**
 * Relays, which send events to a destination outside of the database, and sources, which publish what they read there.
 * Start at {@link io.carillon.internal.engine.relay.RelayAndSourceLoops}, which has the loops;
 * {@link io.carillon.internal.engine.relay.RelayLoop} sends. Contains nothing about a particular destination.
 */
@NullMarked
package io.carillon.internal.engine.relay;

import org.jspecify.annotations.NullMarked;
