/**
 * Limits of this node: of requests to each host (concurrency, a breaker, and pauses that hosts ask for), and of the
 * share of a project. Start at {@link io.carillon.webhook.hosts.HostLimiter} and {@link
 * io.carillon.webhook.hosts.ProjectShares}. Depends on the basic types only; does not send requests.
 */
@NullMarked
package io.carillon.webhook.hosts;

import org.jspecify.annotations.NullMarked;
