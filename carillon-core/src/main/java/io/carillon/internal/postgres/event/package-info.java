/**
 * The SQL of events: {@link io.carillon.internal.postgres.event.EventRepository} publishes and reads them, {@link
 * io.carillon.internal.postgres.event.EventDispatchRepository} orders them and creates their runs, {@link
 * io.carillon.internal.postgres.event.RelayRepository} has the leases and cursors of relays, and {@link
 * io.carillon.internal.postgres.event.SourceRepository} the positions of sources.
 */
@NullMarked
package io.carillon.internal.postgres.event;

import org.jspecify.annotations.NullMarked;
