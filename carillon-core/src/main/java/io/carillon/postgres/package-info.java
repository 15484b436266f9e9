/**
 * The storage on PostgreSQL: one repository for each aggregate, its statements as text blocks on top, and the migrations. Start at
 * {@link io.carillon.postgres.PostgresStorage}, then RunRepository. The only room that speaks SQL; it knows ports and values, never the engine.
 */
@NullMarked
package io.carillon.postgres;

import org.jspecify.annotations.NullMarked;
