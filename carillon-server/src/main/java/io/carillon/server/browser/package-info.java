/**
 * What a browser needs to call the API safely: the host names that the server answers for, and sessions in a cookie.
 * Start at {@link io.carillon.server.browser.SessionAuthenticator}. Must not depend on schedules or runs.
 */
@NullMarked
package io.carillon.server.browser;

import org.jspecify.annotations.NullMarked;
