/** The signatures of Standard Webhooks. Start at {@link io.carillon.webhook.sign.SigningSecret}. Knows neither HTTP nor where secrets are kept. */
@NullMarked
package io.carillon.webhook.sign;

import org.jspecify.annotations.NullMarked;
