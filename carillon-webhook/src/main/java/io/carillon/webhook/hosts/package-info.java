/** How hard this node presses each host: a limit, a breaker, and pauses that hosts ask for. Start at {@link io.carillon.webhook.hosts.HostBook}. */
@NullMarked
package io.carillon.webhook.hosts;

import org.jspecify.annotations.NullMarked;
