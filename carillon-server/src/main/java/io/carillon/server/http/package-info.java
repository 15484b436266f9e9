/** The HTTP kit: a route is a value with a permission, a call comes in, an answer or a problem goes out. Knows nothing of schedules or runs; Jetty only in HttpDoor. */
@NullMarked
package io.carillon.server.http;

import org.jspecify.annotations.NullMarked;
