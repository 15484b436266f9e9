/**
 * The routes of events and subscriptions. Start at {@link io.carillon.server.api.event.EventApi}. They use the
 * transactions and quotas of {@code api}, which does not know this package.
 */
@NullMarked
package io.carillon.server.api.event;

import org.jspecify.annotations.NullMarked;
