/**
 * What was found: rows with a bar, and the file that keeps them. Start at {@link io.carillon.bench.report.Report}. Nothing here measures.
 */
@NullMarked
package io.carillon.bench.report;

import org.jspecify.annotations.NullMarked;
