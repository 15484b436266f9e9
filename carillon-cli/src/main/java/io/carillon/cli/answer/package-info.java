/** Answers of commands in the form the caller asked for: a table, JSON, YAML or names alone. Start at {@link io.carillon.cli.answer.Printer}. Knows JSON, and nobody who sends it. */
@NullMarked
package io.carillon.cli.answer;

import org.jspecify.annotations.NullMarked;
