/**
 * Tests of the dashboard in a real Chromium. Start at {@code DashboardBrowser}, which starts the browser and a server
 * once for all classes. Without a browser the tests are skipped.
 */
package io.carillon.it.dashboard;
