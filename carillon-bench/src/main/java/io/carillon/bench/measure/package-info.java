/**
 * How things are measured: samples, clocks, CPU, threads. Start at {@link io.carillon.bench.measure.Samples}. Knows nothing of what is measured.
 */
@NullMarked
package io.carillon.bench.measure;

import org.jspecify.annotations.NullMarked;
