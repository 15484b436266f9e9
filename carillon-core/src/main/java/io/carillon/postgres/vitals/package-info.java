/**
 * Reads the state of the system for health checks and metrics, and changes nothing. Start at {@link
 * io.carillon.postgres.vitals.VitalsRepository}. Depends on the store ports, the values and the JDBC
 * helper.
 */
@NullMarked
package io.carillon.postgres.vitals;

import org.jspecify.annotations.NullMarked;
