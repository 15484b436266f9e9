package io.carillon.store;

/** How many rows of the table of runs are dead, as far as the database has counted, beside how many live. */
public record Dust(long dead, long living) {}
