/**
 * Reads of the engine's tables for the server, in the server's transaction and under its row-level security. Start at
 * {@link io.carillon.postgres.reads.ServerReads}. The server may use this package and no other one below postgres;
 * depends on the JDBC helper only.
 */
@NullMarked
package io.carillon.postgres.reads;

import org.jspecify.annotations.NullMarked;
