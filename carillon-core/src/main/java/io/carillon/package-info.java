/**
 * The front door: everything a user of the library calls. Start at {@link io.carillon.Carillon}. It puts the rooms behind it together; none of them knows it.
 */
@NullMarked
package io.carillon;

import org.jspecify.annotations.NullMarked;
