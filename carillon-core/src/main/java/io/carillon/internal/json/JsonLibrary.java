package io.carillon.internal.json;

import org.jspecify.annotations.Nullable;

/**
 * What {@link JsonCodec} needs of a JSON library. All implementations write the same JSON for the same value and have
 * the limits below, so that nodes with different libraries can share a database.
 */
interface JsonLibrary {
    /** How many objects and arrays may be nested in each other, in what is written and in what is read. */
    int MAX_DEPTH = 500;

    int MAX_TEXT_LENGTH = 20_000_000;
    int MAX_NUMBER_LENGTH = 1_000;

    byte[] write(Object value) throws JsonFailure;

    /** Returns null if the JSON is {@code null}. */
    <T> @Nullable T read(byte[] json, Class<T> type) throws JsonFailure;

    /** Returns the value as JSON would contain it: maps, lists, text, numbers and booleans. */
    @Nullable
    Object toTree(Object value) throws JsonFailure;
}
