/**
 * Webhook targets, retry settings and endpoints in requests: their JSON, the secrets that a request gives or generates,
 * and the schedules and runs that use an endpoint. Start at {@link io.carillon.server.endpoint.EndpointInput}. The
 * routes are in {@code api}; this package knows requests only as JSON fields.
 */
@NullMarked
package io.carillon.server.endpoint;

import org.jspecify.annotations.NullMarked;
