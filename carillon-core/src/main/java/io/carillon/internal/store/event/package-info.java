/**
 * The ports for events: publishing and administration in {@link io.carillon.internal.store.event.EventStore}, and what
 * the dispatcher needs in {@link io.carillon.internal.store.event.EventDispatchStore}.
 */
@NullMarked
package io.carillon.internal.store.event;

import org.jspecify.annotations.NullMarked;
