/**
 * Decides where a webhook may connect to. Judges addresses by their bytes, never by text; knows nothing of HTTP beyond what a URL says. Start at
 * {@link io.carillon.webhook.guard.Guard}.
 */
@NullMarked
package io.carillon.webhook.guard;

import org.jspecify.annotations.NullMarked;
