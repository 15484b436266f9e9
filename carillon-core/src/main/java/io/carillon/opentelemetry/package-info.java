/** Spans for OpenTelemetry, a dependency the rest does without. Start at {@link io.carillon.opentelemetry.CarillonTraces}. */
@NullMarked
package io.carillon.opentelemetry;

import org.jspecify.annotations.NullMarked;
