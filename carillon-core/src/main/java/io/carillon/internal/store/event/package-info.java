/**
 * The ports for events: publishing and administration in {@link io.carillon.internal.store.event.EventStore}, what the
 * dispatcher needs in {@link io.carillon.internal.store.event.EventDispatchStore}, and what relays and sources need in
 * {@link io.carillon.internal.store.event.RelayStore} and {@link io.carillon.internal.store.event.SourceStore}.
 */
@NullMarked
package io.carillon.internal.store.event;

import org.jspecify.annotations.NullMarked;
