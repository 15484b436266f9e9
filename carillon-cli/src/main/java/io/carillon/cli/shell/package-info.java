/**
 * The environment of a command, read and checked: streams, variables, addresses, directories, logging. Start at {@link
 * io.carillon.cli.shell.Shell}. This package starts nothing and must not depend on the commands.
 */
@NullMarked
package io.carillon.cli.shell;

import org.jspecify.annotations.NullMarked;
