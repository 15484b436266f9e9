/**
 * The storage on PostgreSQL: one repository for each aggregate, with its statements as text blocks at the top. Start at
 * {@link io.carillon.internal.postgres.PostgresStorage}, then RunRepository. This package and its subpackages contain
 * all SQL of the engine. They depend on the store ports, the values and the PostgreSQL driver, never on the engine.
 */
@NullMarked
package io.carillon.internal.postgres;

import org.jspecify.annotations.NullMarked;
