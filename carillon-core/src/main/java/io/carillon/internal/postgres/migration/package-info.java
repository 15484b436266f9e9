/**
 * Creates and checks the tables: numbered SQL files, each applied once, safe when many processes start at the
 * same time. Start at {@link io.carillon.internal.postgres.migration.Migrator}. Uses plain JDBC and must not
 * depend on the repositories.
 */
@NullMarked
package io.carillon.internal.postgres.migration;

import org.jspecify.annotations.NullMarked;
