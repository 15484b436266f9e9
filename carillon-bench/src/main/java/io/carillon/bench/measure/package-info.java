/**
 * Measuring instruments: samples, clocks, CPU time, threads. Start at {@link io.carillon.bench.measure.Samples}.
 * Depends on the JDK only.
 */
@NullMarked
package io.carillon.bench.measure;

import org.jspecify.annotations.NullMarked;
