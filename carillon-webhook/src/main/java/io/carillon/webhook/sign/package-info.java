/**
 * Signatures according to Standard Webhooks, by HMAC-SHA256 or Ed25519. Start at {@link
 * io.carillon.webhook.sign.SigningSecret}. Depends on the
 * basic types only; does not send requests or store secrets.
 */
@NullMarked
package io.carillon.webhook.sign;

import org.jspecify.annotations.NullMarked;
