/**
 * Authentication and rate limits: API keys, tokens of other issuers, and sessions of users. Start at {@link
 * io.carillon.server.access.BearerAuthenticator}. Depends on the HTTP package and the server's tables, not on schedules
 * or runs.
 */
@NullMarked
package io.carillon.server.access;

import org.jspecify.annotations.NullMarked;
