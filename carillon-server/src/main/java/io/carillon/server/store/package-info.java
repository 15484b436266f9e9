/**
 * The server's own tables: projects, API keys, secrets, audit log, bulk actions and stored responses. Start at {@link
 * io.carillon.server.store.Transactions}. The routes access schedules and runs through the library's API; this package
 * only reads what that API does not offer.
 */
@NullMarked
package io.carillon.server.store;

import org.jspecify.annotations.NullMarked;
