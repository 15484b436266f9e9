/**
 * Makes and checks the tables: numbered SQL files, applied once each, safe when many processes start at once. Start at
 * {@link io.carillon.postgres.migration.Migrator}. Plain JDBC; it knows nothing of the repositories beside it.
 */
@NullMarked
package io.carillon.postgres.migration;

import org.jspecify.annotations.NullMarked;
