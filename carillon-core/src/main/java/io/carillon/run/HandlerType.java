package io.carillon.run;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** A stable name on the wire and the record it carries. The name is what is stored, never the class: classes may move and change. */
public record HandlerType<T>(String name, Class<T> type, Map<String, Function<String, T>> older) {
    public HandlerType {
        Names.check("handler", name);
        older = Map.copyOf(older);
    }

    /** A handler type of this name. */
    public static <T> HandlerType<T> of(String name, Class<T> type) {
        return new HandlerType<>(name, type, Map.of());
    }

    /** Also takes runs stored under an older name, such as {@code reminder.send@1}: the reader gets their JSON and returns today's record. */
    public HandlerType<T> accepting(String olderName, Function<String, T> reader) {
        if (olderName.equals(name) || older.containsKey(olderName))
            throw new CarillonException(
                    ErrorCode.DUPLICATE_HANDLER,
                    "Handler '%s' already accepts the name '%s'. Name each older form once."
                            .formatted(name, olderName));
        Names.check("handler", olderName.replace('@', '.'));
        Map<String, Function<String, T>> more = new LinkedHashMap<>(older);
        more.put(olderName, reader);
        return new HandlerType<>(name, type, more);
    }
}
