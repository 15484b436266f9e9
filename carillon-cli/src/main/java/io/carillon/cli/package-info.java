/**
 * The {@code carillon} command. Start at {@link io.carillon.cli.Main}. This package contains the local subcommands, one
 * class each; its subpackages contain the remote subcommands and shared parts. The command uses the public API like any
 * other application, and contains neither SQL nor parts of the engine. Only this package calls {@code System.exit}.
 */
@NullMarked
package io.carillon.cli;

import org.jspecify.annotations.NullMarked;
