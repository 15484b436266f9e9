/**
 * Webhooks: a handler that calls a URL. Start at {@link io.carillon.webhook.Webhooks}. Subpackages check addresses,
 * sign and send requests, and limit the requests to each host; this package decides what a response means. Depends on
 * the public API like the handlers of an application.
 */
@NullMarked
package io.carillon.webhook;

import org.jspecify.annotations.NullMarked;
