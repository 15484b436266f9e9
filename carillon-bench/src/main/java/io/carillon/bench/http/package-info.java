/**
 * HTTP requests over loopback. {@link io.carillon.bench.http.HttpLoadGenerator} sends them, and {@link
 * io.carillon.bench.http.BareServer} is a minimal server that responds to them. Depends on the instruments and Jetty,
 * not on Carillon.
 */
@NullMarked
package io.carillon.bench.http;

import org.jspecify.annotations.NullMarked;
