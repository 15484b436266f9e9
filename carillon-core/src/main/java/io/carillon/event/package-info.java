/**
 * Events: facts that are stored with the transaction of the publisher and delivered to subscriptions in one order.
 * Start at {@link io.carillon.event.Topic}, which names the types of events, and at {@link io.carillon.event.Events}.
 */
@NullMarked
package io.carillon.event;

import org.jspecify.annotations.NullMarked;
