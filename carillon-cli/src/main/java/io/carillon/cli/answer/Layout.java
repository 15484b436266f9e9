package io.carillon.cli.answer;

/**
 * How results are printed.
 *
 * @param wide whether tables are as wide as their content, and errors have all their frames
 * @param absolute whether instants and durations are printed as the server returns them
 */
public record Layout(Format format, boolean wide, boolean absolute) {}
