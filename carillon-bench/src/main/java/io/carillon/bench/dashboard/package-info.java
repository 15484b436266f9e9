/**
 * The workload of the dashboard: its pages on very many rows, and many open pages. Start at {@link
 * io.carillon.bench.dashboard.DashboardPages}.
 */
@NullMarked
package io.carillon.bench.dashboard;

import org.jspecify.annotations.NullMarked;
