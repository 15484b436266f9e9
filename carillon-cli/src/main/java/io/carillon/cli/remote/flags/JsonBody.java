package io.carillon.cli.remote.flags;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Builds the JSON bodies of requests. */
public final class JsonBody {
    private JsonBody() {}

    /** Returns a new JSON object without fields. */
    public static ObjectNode emptyBody() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** Sets a field unless the value is null. */
    public static ObjectNode putIfGiven(ObjectNode body, String name, @Nullable String value) {
        return value == null ? body : body.put(name, value);
    }

    /** Sets a field to an object with these texts unless there are none. */
    public static ObjectNode putTexts(ObjectNode body, String name, Map<String, String> texts) {
        if (!texts.isEmpty()) texts.forEach(body.putObject(name)::put);
        return body;
    }
}
