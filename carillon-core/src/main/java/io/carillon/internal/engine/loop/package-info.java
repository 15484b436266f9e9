/**
 * Threads and waiting. Start at {@link io.carillon.internal.engine.loop.Loop}: all other loops of the engine extend it.
 */
@NullMarked
package io.carillon.internal.engine.loop;

import org.jspecify.annotations.NullMarked;
