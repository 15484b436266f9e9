/**
 * The ports for runs, queues and gates, with their requests and results. Start at
 * {@link io.carillon.internal.store.run.RunStore}.
 */
@NullMarked
package io.carillon.internal.store.run;

import org.jspecify.annotations.NullMarked;
