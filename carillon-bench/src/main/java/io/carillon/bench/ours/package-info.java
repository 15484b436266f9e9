/**
 * Carillon as an application uses it, through the public API. Start at {@link io.carillon.bench.ours.CarillonDrain}.
 * Only the copies of schedules are stored with SQL: a million of them would take an hour through the API.
 */
@NullMarked
package io.carillon.bench.ours;

import org.jspecify.annotations.NullMarked;
