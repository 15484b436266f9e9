package io.carillon.cli.answer;

/** The form of an answer. */
public enum Format {
    /** For people. */
    TABLE,
    /** For programs: what the server said. */
    JSON,
    /** The same, easier to read. */
    YAML,
    /** Names or ids alone, one a line, for other commands. */
    NAME
}
