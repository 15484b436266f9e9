/**
 * Serves the files of the dashboard, which are resources of this package. Start at {@link
 * io.carillon.server.dashboard.DashboardRoutes}. Must not depend on the API, schedules or runs: the pages use REST.
 */
@NullMarked
package io.carillon.server.dashboard;

import org.jspecify.annotations.NullMarked;
