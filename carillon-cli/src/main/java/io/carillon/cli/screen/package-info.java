/**
 * A text terminal: what it can do, lines that fit it, and a screen that is drawn in place and always given back as it was. Start at
 * {@link io.carillon.cli.screen.Terminal}. Knows nothing of Carillon.
 */
@NullMarked
package io.carillon.cli.screen;

import org.jspecify.annotations.NullMarked;
