/**
 * All SQL of the library: the repositories behind the ports and the migrations that make their tables. Knows the ports and the values, never the
 * engine. Start at {@link io.carillon.postgres.Migrator} for the tables.
 */
@NullMarked
package io.carillon.postgres;

import org.jspecify.annotations.NullMarked;
