/**
 * What is measured: one class for each workload behind the port {@link io.carillon.bench.workload.Workload}. Start at
 * {@link io.carillon.bench.workload.Workloads}. A workload says what its rows mean; how things are measured is not its business.
 */
@NullMarked
package io.carillon.bench.workload;

import org.jspecify.annotations.NullMarked;
