/**
 * The events of projects as they are sent to clients: read once for all clients of a server, and written as few
 * messages. Start at {@link io.carillon.server.stream.ProjectEventStream}. It knows no requests.
 */
@NullMarked
package io.carillon.server.stream;

import org.jspecify.annotations.NullMarked;
