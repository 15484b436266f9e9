/**
 * The SQL of events: {@link io.carillon.internal.postgres.event.EventRepository} publishes and reads them,
 * {@link io.carillon.internal.postgres.event.EventDispatchRepository} orders them and creates their runs.
 */
@NullMarked
package io.carillon.internal.postgres.event;

import org.jspecify.annotations.NullMarked;
