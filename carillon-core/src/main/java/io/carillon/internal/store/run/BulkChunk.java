package io.carillon.internal.store.run;

/**
 * The result of one chunk of a bulk action.
 *
 * @param done how many runs were changed
 * @param next where the action continues
 * @param blocked whether other transactions lock all runs that are left
 */
public record BulkChunk(int done, BulkCursor next, boolean blocked) {}
