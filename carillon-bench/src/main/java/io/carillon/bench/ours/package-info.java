/**
 * Carillon as an application uses it: through the front door. Start at {@link io.carillon.bench.ours.OurDrain}. Only the copying of schedules speaks SQL, since
 * a million of them would take an hour one by one.
 */
@NullMarked
package io.carillon.bench.ours;

import org.jspecify.annotations.NullMarked;
