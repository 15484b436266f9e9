/**
 * The JDBC helper that all modules share: connections, short transactions, and statements with named parameters. Start
 * at {@link io.carillon.internal.jdbc.Database}. It contains no SQL about tables and is not part of the public API.
 * Depends on the values and the PostgreSQL driver only.
 */
@NullMarked
package io.carillon.internal.jdbc;

import org.jspecify.annotations.NullMarked;
