/**
 * HTTP: routes with permissions, requests, responses and problems. Start at {@link io.carillon.server.http.Router}.
 * Must not depend on schedules, runs or the server's tables. Only JettyServer, HttpExchange, BodyReader, StreamWriters
 * and ConnectionLimiter use Jetty.
 */
@NullMarked
package io.carillon.server.http;

import org.jspecify.annotations.NullMarked;
