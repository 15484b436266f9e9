/**
 * What a command has from the shell that called it, read and checked: streams, environment, addresses, directories. Start at
 * {@link io.carillon.cli.shell.Shell}. Knows no command, and starts nothing.
 */
@NullMarked
package io.carillon.cli.shell;

import org.jspecify.annotations.NullMarked;
