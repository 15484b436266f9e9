/**
 * A text terminal: its capabilities, lines that fit its width, and a screen that is drawn in place and always restored.
 * Start at {@link io.carillon.cli.screen.Terminal}. Depends on the JDK only.
 */
@NullMarked
package io.carillon.cli.screen;

import org.jspecify.annotations.NullMarked;
