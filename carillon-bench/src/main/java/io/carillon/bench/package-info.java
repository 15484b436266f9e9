/**
 * {@code ./carillon bench}: Carillon beside its peers and beside plain SQL, on an embedded PostgreSQL with full durability. Start at
 * {@link io.carillon.bench.Bench}. Not published; nothing of the product may know it.
 */
@NullMarked
package io.carillon.bench;

import org.jspecify.annotations.NullMarked;
