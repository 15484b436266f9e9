/**
 * Reads the state of the system for health checks and metrics, and changes nothing. Start at {@link
 * io.carillon.internal.postgres.vitals.VitalsRepository}. Depends on the store ports and the values.
 */
@NullMarked
package io.carillon.internal.postgres.vitals;

import org.jspecify.annotations.NullMarked;
