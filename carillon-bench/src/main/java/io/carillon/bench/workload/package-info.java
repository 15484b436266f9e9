/**
 * The workloads, one class each, behind the port {@link io.carillon.bench.workload.Workload}. Start at {@link
 * io.carillon.bench.workload.Workloads}. A workload defines its rows and may depend on all other packages of the
 * benchmark; the package {@code measure} contains the instruments.
 */
@NullMarked
package io.carillon.bench.workload;

import org.jspecify.annotations.NullMarked;
