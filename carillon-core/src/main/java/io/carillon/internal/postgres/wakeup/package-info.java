/**
 * Wake-up hints through LISTEN and NOTIFY. Start at {@link io.carillon.internal.postgres.wakeup.PostgresWakeChannel}.
 */
@NullMarked
package io.carillon.internal.postgres.wakeup;

import org.jspecify.annotations.NullMarked;
