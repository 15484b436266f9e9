/**
 * Sends one HTTP request to a checked address and reads the response, both bounded in size and time. Start at {@link
 * io.carillon.webhook.send.Sender}. Only this package depends on the HTTP client; it does not interpret responses.
 */
@NullMarked
package io.carillon.webhook.send;

import org.jspecify.annotations.NullMarked;
