/**
 * The PostgreSQL server of the benchmark and its databases. Start at {@link io.carillon.bench.server.BenchServer}. Each
 * round gets a new database. Must not depend on workloads.
 */
@NullMarked
package io.carillon.bench.server;

import org.jspecify.annotations.NullMarked;
