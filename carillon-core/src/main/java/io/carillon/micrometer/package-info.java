/**
 * Micrometer metrics of the engine and the database. Start at {@link io.carillon.micrometer.CarillonMeters}. Depends on
 * the public API and Micrometer, which is an optional dependency of the library.
 */
@NullMarked
package io.carillon.micrometer;

import org.jspecify.annotations.NullMarked;
