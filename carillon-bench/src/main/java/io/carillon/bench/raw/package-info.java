/**
 * Plain SQL on the tables and indexes of Carillon: the upper limit of the database. Start at {@link
 * io.carillon.bench.raw.RawCycle}. No scheduler executes here.
 */
@NullMarked
package io.carillon.bench.raw;

import org.jspecify.annotations.NullMarked;
