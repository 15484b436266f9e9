/**
 * Webhooks as a server has them: their secrets in the database, and a receiver that is gone pauses its schedule. Start at {@link
 * io.carillon.server.hooks.ServerWebhooks}. Knows nothing of HTTP requests.
 */
@NullMarked
package io.carillon.server.hooks;

import org.jspecify.annotations.NullMarked;
