package io.carillon;

/** The way a process treats the schema {@code carillon} when it starts. */
public enum SchemaMode {
    /** Applies missing migrations. Safe if many processes start at the same time. */
    AUTO,
    /** Changes nothing, and does not start if the schema is too old, too new or altered. */
    VALIDATE,
    /** Does not check the schema. */
    OFF
}
