/**
 * Queries about runs and schedules that only the server needs. Start at {@link
 * io.carillon.internal.postgres.reads.ServerReads}. They change nothing.
 */
@NullMarked
package io.carillon.internal.postgres.reads;

import org.jspecify.annotations.NullMarked;
