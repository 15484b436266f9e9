package io.carillon.internal.json;

import java.lang.reflect.RecordComponent;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The names of the components of records, in their order. */
final class RecordComponents {
    private RecordComponents() {}

    /** Returns null if the type is no record. */
    static String @Nullable [] names(Class<?> type) {
        RecordComponent @Nullable [] components = type.getRecordComponents();
        return components == null
                ? null
                : Stream.of(components).map(RecordComponent::getName).toArray(String[]::new);
    }
}
