/**
 * {@code ./carillon bench}: compares Carillon with other schedulers and with plain SQL, on an embedded PostgreSQL with
 * full durability. Start at {@link io.carillon.bench.Bench}. The module is not published, and no other module may
 * depend on it.
 */
@NullMarked
package io.carillon.bench;

import org.jspecify.annotations.NullMarked;
