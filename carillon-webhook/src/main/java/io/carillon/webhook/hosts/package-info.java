/**
 * Limits of requests to each host: concurrency, a breaker, and pauses that hosts ask for. Start at {@link
 * io.carillon.webhook.hosts.HostLimiter}. Depends on the basic types only; does not send requests.
 */
@NullMarked
package io.carillon.webhook.hosts;

import org.jspecify.annotations.NullMarked;
