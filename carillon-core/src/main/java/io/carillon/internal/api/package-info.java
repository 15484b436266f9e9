/**
 * What the classes of the public API share: they register handlers, build runs, check health and read data sources.
 * Start at {@link io.carillon.internal.api.RunFactory}. Not for users.
 */
@NullMarked
package io.carillon.internal.api;

import org.jspecify.annotations.NullMarked;
