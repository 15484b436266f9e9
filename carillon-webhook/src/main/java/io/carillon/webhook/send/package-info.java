/**
 * One HTTP request to a checked address, and what came back, both bounded. Start at {@link io.carillon.webhook.send.Sender}. The only room that knows the HTTP
 * client; what an answer means is not its business.
 */
@NullMarked
package io.carillon.webhook.send;

import org.jspecify.annotations.NullMarked;
