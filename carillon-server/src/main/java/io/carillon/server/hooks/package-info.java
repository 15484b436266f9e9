/**
 * Webhooks of the server: their endpoints in the database, and the pause of a schedule whose receiver responds 410.
 * Start at {@link io.carillon.server.hooks.ServerWebhooks}. Depends on the webhook module and the server's tables, not
 * on the HTTP packages.
 */
@NullMarked
package io.carillon.server.hooks;

import org.jspecify.annotations.NullMarked;
