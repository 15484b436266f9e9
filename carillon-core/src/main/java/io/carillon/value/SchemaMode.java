package io.carillon.value;

/** What a starting process does about the tables in the schema {@code carillon}. */
public enum SchemaMode {
    /** Applies what is missing; safe when many processes start at once. */
    AUTO,
    /** Changes nothing and refuses to start on a schema that is too old, too new or altered. */
    VALIDATE,
    /** Does not look at all. */
    OFF
}
