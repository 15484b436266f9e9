/**
 * Hides secrets in payloads that are shown, and restores them in payloads that are sent back. Works on JSON only; knows
 * no run and no database. Start at {@link io.carillon.server.redaction.PayloadRedaction}.
 */
@NullMarked
package io.carillon.server.redaction;

import org.jspecify.annotations.NullMarked;
