/**
 * The {@code carillon} command. Start at {@link io.carillon.cli.Main}: one class for each subcommand lives here, what they are made of in the rooms below.
 * It goes through the front door like any other application and knows neither SQL nor the engine; this is the only room that may end the JVM.
 */
@NullMarked
package io.carillon.cli;

import org.jspecify.annotations.NullMarked;
