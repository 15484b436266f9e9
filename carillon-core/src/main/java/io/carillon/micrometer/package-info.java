/** Carillon's meters for Micrometer, a dependency the rest does without. Start at {@link io.carillon.micrometer.CarillonMeters}. */
@NullMarked
package io.carillon.micrometer;

import org.jspecify.annotations.NullMarked;
