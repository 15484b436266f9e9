/**
 * OpenTelemetry spans for enqueued runs and attempts. Start at {@link io.carillon.opentelemetry.CarillonTraces}.
 * Depends on the values and on the OpenTelemetry API, which is an optional dependency of the library.
 */
@NullMarked
package io.carillon.opentelemetry;

import org.jspecify.annotations.NullMarked;
