/**
 * Requests over loopback: {@link io.carillon.bench.http.HttpLoad} sends them, {@link io.carillon.bench.http.BareServer} is the least that could answer. Nothing here
 * knows what a run is.
 */
@NullMarked
package io.carillon.bench.http;

import org.jspecify.annotations.NullMarked;
