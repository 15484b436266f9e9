package io.carillon.dashboard;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Decides what the user who sent a request may do. It is called on the thread of the request, for each request of the
 * dashboard that reads or changes something.
 */
@FunctionalInterface
public interface DashboardAuthorizer {
    /**
     * Returns what the user may do. {@link DashboardAccess#none()} refuses the request: with status 401 if the
     * container knows no user, so that the page asks to log in again, otherwise with 403.
     */
    DashboardAccess authorize(HttpServletRequest request);
}
