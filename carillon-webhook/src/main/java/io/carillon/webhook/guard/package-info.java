/**
 * Decides which addresses a webhook may connect to. Start at {@link io.carillon.webhook.guard.AddressGuard}. Compares
 * the bytes of addresses, never their text. Depends on the basic types, not on the HTTP client.
 */
@NullMarked
package io.carillon.webhook.guard;

import org.jspecify.annotations.NullMarked;
