/**
 * The server's own tables: projects, users and their sessions, members, API keys, secrets, audit log, bulk actions and
 * stored responses. Start at {@link io.carillon.server.store.Transactions}. The routes access schedules and runs
 * through the library's API; the queries that it does not offer are in {@link
 * io.carillon.internal.postgres.reads.ServerReads}.
 */
@NullMarked
package io.carillon.server.store;

import org.jspecify.annotations.NullMarked;
