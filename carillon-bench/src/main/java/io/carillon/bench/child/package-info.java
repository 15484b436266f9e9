/**
 * Child processes of the benchmark: {@link io.carillon.bench.child.ChildProcess} starts one and sends it commands, and
 * {@link io.carillon.bench.child.ChildMain} runs in it. Must not depend on the workloads.
 */
@NullMarked
package io.carillon.bench.child;

import org.jspecify.annotations.NullMarked;
