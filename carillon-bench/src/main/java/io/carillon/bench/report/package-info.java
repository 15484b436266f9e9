/**
 * The results of the benchmark: rows with targets, and the file that stores them. Start at {@link
 * io.carillon.bench.report.Report}. This package measures nothing and depends on no other package of the benchmark.
 */
@NullMarked
package io.carillon.bench.report;

import org.jspecify.annotations.NullMarked;
