/**
 * Threads and waiting. Start at {@link io.carillon.internal.engine.loop.Loop}, which repeats a task.
 */
@NullMarked
package io.carillon.internal.engine.loop;

import org.jspecify.annotations.NullMarked;
