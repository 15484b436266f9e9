/**
 * Calls the listeners of the user outside of the loops, and writes the log of runs. Start at
 * {@link io.carillon.internal.engine.listener.Listeners}.
 */
@NullMarked
package io.carillon.internal.engine.listener;

import org.jspecify.annotations.NullMarked;
