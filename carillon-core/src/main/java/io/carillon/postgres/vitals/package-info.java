/** Reads how things stand, for health checks and meters. Reads only; start at {@link io.carillon.postgres.vitals.VitalsRepository}. */
@NullMarked
package io.carillon.postgres.vitals;

import org.jspecify.annotations.NullMarked;
