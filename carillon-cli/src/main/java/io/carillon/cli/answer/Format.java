package io.carillon.cli.answer;

/** An output format. */
public enum Format {
    /** A table, for people. */
    TABLE,
    /** The JSON of the server, for programs. */
    JSON,
    /** Like {@link #JSON}, but as YAML. */
    YAML,
    /** Only names or ids, one per line, as input for other commands. */
    NAME
}
