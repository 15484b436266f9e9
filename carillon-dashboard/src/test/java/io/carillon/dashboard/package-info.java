/** Tests of the servlet in real containers. Start at {@code DashboardServletTest}. */
package io.carillon.dashboard;
