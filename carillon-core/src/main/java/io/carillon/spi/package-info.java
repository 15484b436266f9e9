/**
 * Extension points: what users implement or receive to extend Carillon. Codecs, context propagators, interceptors of
 * attempts, wake-up transports, the consumption of their messages, relays and sources of events, run and schedule
 * listeners with their events, and the encryption of secrets. Start at {@link io.carillon.spi.RunListener}.
 */
@NullMarked
package io.carillon.spi;

import org.jspecify.annotations.NullMarked;
