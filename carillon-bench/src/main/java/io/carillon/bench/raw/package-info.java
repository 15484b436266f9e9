/**
 * Plain SQL on the tables and indexes of Carillon: what the database alone can do. Start at {@link io.carillon.bench.raw.RawCycle}. No scheduler is involved.
 */
@NullMarked
package io.carillon.bench.raw;

import org.jspecify.annotations.NullMarked;
