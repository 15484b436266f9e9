package io.carillon.server.openapi;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The API description (openapi.json), to validate responses. Supports the part of JSON Schema that
 * the description uses.
 */
public final class OpenApiDescription {
    public static final JsonMapper JSON = JsonMapper.builder().build();
    private static final OpenApiDescription INSTANCE = new OpenApiDescription();

    private final JsonNode root;

    private OpenApiDescription() {
        try (InputStream in = OpenApiDescription.class.getResourceAsStream("/io/carillon/server/openapi.json")) {
            root = JSON.readTree(in);
        } catch (IOException broken) {
            throw new AssertionError(broken);
        }
    }

    public static OpenApiDescription instance() {
        return INSTANCE;
    }

    /** One declared operation. */
    public record Operation(String method, String path, JsonNode node) {
        public String permission() {
            return node.path("x-permission").stringValue("");
        }

        public boolean hasBody() {
            return node.has("requestBody");
        }

        /** Returns whether the response is a stream of events, which has no end. */
        public boolean isStream() {
            return node.at("/responses/200/content").has("text/event-stream");
        }

        boolean bodyRequired() {
            return node.at("/requestBody/required").booleanValue(false);
        }

        public Set<String> parameters(String in) {
            Set<String> names = new TreeSet<>();
            for (JsonNode parameter : node.path("parameters"))
                if (parameter.path("in").stringValue("").equals(in))
                    names.add(parameter.path("name").stringValue(""));
            return names;
        }

        @Override
        public String toString() {
            return method + " " + path;
        }
    }

    public List<Operation> operations() {
        List<Operation> all = new ArrayList<>();
        for (Map.Entry<String, JsonNode> path : root.path("paths").properties())
            for (Map.Entry<String, JsonNode> operation : path.getValue().properties())
                all.add(new Operation(
                        operation.getKey().toUpperCase(java.util.Locale.ROOT), path.getKey(), operation.getValue()));
        return all;
    }

    public Optional<Operation> find(String method, String path) {
        String plain = path.contains("?") ? path.substring(0, path.indexOf('?')) : path;
        return operations().stream()
                .filter(operation -> operation.method().equals(method))
                .filter(operation -> Pattern.compile(operation
                                .path()
                                .replaceAll("\\{[a-z]+}", "[^/]*")
                                .replace(".", "\\."))
                        .matcher(plain)
                        .matches())
                // A literal path is preferred to one with {name} segments.
                .min((one, other) ->
                        Boolean.compare(one.path().contains("{"), other.path().contains("{")));
    }

    /** Returns the differences between a response and its declaration; empty if there are none. */
    public List<String> violations(Operation operation, int status, String type, String body) {
        List<String> faults = new ArrayList<>();
        JsonNode response = resolve(operation.node().path("responses").path(Integer.toString(status)));
        if (response.isMissingNode()) return List.of(operation + " does not declare status " + status + ": " + body);
        JsonNode content = response.path("content");
        if (content.isMissingNode()) return body.isEmpty() ? List.of() : List.of(operation + " has a body: " + body);
        JsonNode media = content.path(type.split(";", 2)[0]);
        if (media.isMissingNode()) return List.of(operation + " does not declare " + type + " for " + status);
        if (!type.contains("json")) return List.of();
        JsonNode json = JSON.readTree(body);
        check(media.path("schema"), json, "", faults);
        JsonNode codes = response.path("x-codes");
        if (status >= 400 && !codes.isMissingNode()) {
            boolean declared = false;
            for (JsonNode code : codes) declared |= code.equals(json.path("code"));
            if (!declared) faults.add(operation + " does not declare code " + json.path("code") + " for " + status);
        }
        return faults;
    }

    /** Returns the differences between a problem and its schema; empty if there are none. */
    public List<String> problemViolations(String body) {
        List<String> faults = new ArrayList<>();
        check(root.at("/components/schemas/Problem"), JSON.readTree(body), "", faults);
        return faults;
    }

    /** Returns the differences between a value and a schema; empty if there are none. */
    List<String> schemaViolations(JsonNode schema, JsonNode value) {
        List<String> faults = new ArrayList<>();
        check(schema, value, "", faults);
        return faults;
    }

    /** Returns a part of the description by its JSON pointer. */
    JsonNode at(String pointer) {
        return root.at(pointer);
    }

    public JsonNode resolve(JsonNode node) {
        String reference = node.path("$ref").stringValue("");
        return reference.isEmpty() ? node : root.at(reference.substring(1));
    }

    private void check(JsonNode declared, JsonNode value, String at, List<String> faults) {
        JsonNode schema = resolve(declared);
        String type = schema.path("type").stringValue("");
        boolean fits = switch (type) {
            case "object" -> value.isObject();
            case "array" -> value.isArray();
            case "string" -> value.isString();
            case "integer" -> value.isIntegralNumber();
            case "number" -> value.isNumber();
            case "boolean" -> value.isBoolean();
            default -> true;
        };
        if (!fits) faults.add(at + " is not of type " + type + ": " + value);
        if (schema.has("enum")) {
            boolean known = false;
            for (JsonNode one : schema.path("enum")) known |= one.equals(value);
            if (!known) faults.add(at + " is not one of " + schema.path("enum") + ": " + value);
        }
        String pattern = schema.path("pattern").stringValue("");
        if (!pattern.isEmpty() && value.isString() && !Pattern.matches(pattern, value.stringValue()))
            faults.add(at + " does not match " + pattern + ": " + value);
        if (type.equals("array")) for (JsonNode one : value) check(schema.path("items"), one, at + "/-", faults);
        if (!type.equals("object")) return;
        for (JsonNode name : schema.path("required"))
            if (!value.has(name.stringValue(""))) faults.add(at + " lacks " + name);
        for (Map.Entry<String, JsonNode> field : value.properties()) {
            JsonNode property = schema.path("properties").path(field.getKey());
            if (!property.isMissingNode()) check(property, field.getValue(), at + "/" + field.getKey(), faults);
            else if (!schema.path("additionalProperties").booleanValue(true))
                faults.add(at + " has the undeclared field " + field.getKey());
        }
    }
}
