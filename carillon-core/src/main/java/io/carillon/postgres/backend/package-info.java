/**
 * The server process and the pooler behind a connection. Start at {@link io.carillon.postgres.backend.Backend}. Depends
 * on JDBC and the PostgreSQL driver only.
 */
@NullMarked
package io.carillon.postgres.backend;

import org.jspecify.annotations.NullMarked;
