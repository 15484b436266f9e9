/**
 * The dashboard as a servlet, for an application that uses the library. Start at {@link
 * io.carillon.dashboard.CarillonDashboard}. It translates requests and responses; routes and pages are those of the
 * server.
 */
@NullMarked
package io.carillon.dashboard;

import org.jspecify.annotations.NullMarked;
