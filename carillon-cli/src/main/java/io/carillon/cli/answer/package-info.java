/**
 * The output of commands in the requested format: a table, JSON, YAML or names only. Start at {@link
 * io.carillon.cli.answer.Printer}. Depends on the packages shell and screen and on Jackson; does not depend on the
 * commands or the client.
 */
@NullMarked
package io.carillon.cli.answer;

import org.jspecify.annotations.NullMarked;
