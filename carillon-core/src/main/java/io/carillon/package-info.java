/**
 * The public API of the Carillon library. Start at {@link io.carillon.Carillon}. This package assembles the other
 * packages, so it may depend on all of them; the engine, the storage and the values must not depend on it.
 */
@NullMarked
package io.carillon;

import org.jspecify.annotations.NullMarked;
