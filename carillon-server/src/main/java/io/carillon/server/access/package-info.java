/**
 * Authentication and rate limits: API keys, and tokens of other issuers. Start at {@link
 * io.carillon.server.access.BearerAuthenticator}. Depends on the HTTP package and the server's tables, not on schedules
 * or runs.
 */
@NullMarked
package io.carillon.server.access;

import org.jspecify.annotations.NullMarked;
