/**
 * The public API of the Carillon library. Start at {@link io.carillon.Carillon}.
 *
 * <p>Applications import these packages:
 *
 * <ul>
 *   <li>of the library: {@code io.carillon}, {@code io.carillon.run} (runs, handlers and outcomes), {@code
 *       io.carillon.schedule} (timings and schedules), {@code io.carillon.event} (events and subscriptions), {@code
 *       io.carillon.workflow} (code with recorded steps), {@code io.carillon.spi} (extension points), and, with the
 *       optional dependency, {@code io.carillon.micrometer} and {@code io.carillon.opentelemetry};
 *   <li>of the other modules: {@code io.carillon.webhook}, {@code io.carillon.kafka}, {@code io.carillon.testkit},
 *       {@code io.carillon.embedded}, {@code io.carillon.server} and {@code io.carillon.dashboard}.
 * </ul>
 *
 * <p>A package with {@code internal} in its name is not part of the API and may change in any release.
 *
 * <p>This package assembles the other packages, so it may depend on all of them; the engine, the storage and the values
 * must not depend on it.
 */
@NullMarked
package io.carillon;

import org.jspecify.annotations.NullMarked;
