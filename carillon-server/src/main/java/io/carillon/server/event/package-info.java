/**
 * Events, their targets in schedules, and subscriptions in requests: their JSON, and the positions of lists and tails.
 * Start at {@link io.carillon.server.event.EventInput}. The routes are in {@code api.event}; this package knows
 * requests only as JSON fields.
 */
@NullMarked
package io.carillon.server.event;

import org.jspecify.annotations.NullMarked;
