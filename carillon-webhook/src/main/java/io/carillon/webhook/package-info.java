/**
 * The webhook target: a handler that calls a URL. Start at {@link io.carillon.webhook.Webhooks}. What may be connected to, how a request is signed and sent, and
 * how hard a host is pressed have rooms of their own; here it is decided what an answer means.
 */
@NullMarked
package io.carillon.webhook;

import org.jspecify.annotations.NullMarked;
