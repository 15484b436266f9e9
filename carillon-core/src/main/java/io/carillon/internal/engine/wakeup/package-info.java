/**
 * Sends and receives wake-up hints, and changes the wake-up mode of a running node. Start at
 * {@link io.carillon.internal.engine.wakeup.WakeupController}.
 */
@NullMarked
package io.carillon.internal.engine.wakeup;

import org.jspecify.annotations.NullMarked;
