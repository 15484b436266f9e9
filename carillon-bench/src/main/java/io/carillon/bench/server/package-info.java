/**
 * The PostgreSQL server everything is measured on, and the databases in it. Start at {@link io.carillon.bench.server.BenchServer}. Each round gets a fresh
 * database; nothing here knows what it is for.
 */
@NullMarked
package io.carillon.bench.server;

import org.jspecify.annotations.NullMarked;
