package io.carillon.internal.store;

/** The number of dead rows in the run table, as far as PostgreSQL has counted them, and of live rows. */
public record TableStats(long deadRows, long liveRows) {}
