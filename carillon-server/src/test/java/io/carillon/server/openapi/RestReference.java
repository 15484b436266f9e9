package io.carillon.server.openapi;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;

/** The reference section of docs/rest.md, generated from the API description. */
final class RestReference {
    private static final String BEGIN = "<!-- reference: made of openapi.json, see CONTRIBUTING.md -->\n";
    private static final String END = "<!-- end of the reference -->\n";
    private static final String SCHEMA = "#/components/schemas/";
    private static final String JSON = "application/json";

    private final OpenApiDescription openApiDescription;
    private final Set<String> schemas = new TreeSet<>();

    private RestReference(OpenApiDescription openApiDescription) {
        this.openApiDescription = openApiDescription;
    }

    /** Returns the page with the generated reference. */
    static String on(String page) {
        int from = page.indexOf(BEGIN);
        int to = page.indexOf(END);
        if (from < 0 || to < from)
            throw new AssertionError("docs/rest.md does not contain the markers of its reference: " + BEGIN);
        return page.substring(0, from)
                + BEGIN
                + new RestReference(OpenApiDescription.instance()).text()
                + page.substring(to);
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        operations().forEach((title, group) -> {
            text.append("\n### %s\n\n| request | scope | description | parameters | response |\n|---|---|---|---|---|\n"
                    .formatted(title));
            for (OpenApiDescription.Operation one : group)
                text.append("| `%s` | %s | %s | %s | %s |\n"
                        .formatted(one, one.permission(), summary(one), requestCell(one), responseCell(one)));
        });
        return text.append(schemasSection()).append(problems()).append('\n').toString();
    }

    /**
     * Groups the operations by their path, in the order of the description; groups of one operation
     * come last, together.
     */
    private Map<String, List<OpenApiDescription.Operation>> operations() {
        Map<String, List<OpenApiDescription.Operation>> groups = openApiDescription.operations().stream()
                .collect(Collectors.groupingBy(RestReference::topic, LinkedHashMap::new, Collectors.toList()));
        Map<String, List<OpenApiDescription.Operation>> titled = new LinkedHashMap<>();
        List<OpenApiDescription.Operation> others = new ArrayList<>();
        groups.forEach((topic, group) -> {
            if (topic.isEmpty() || group.size() == 1) others.addAll(group);
            else titled.put(topic.substring(0, 1).toUpperCase(Locale.ROOT) + topic.substring(1), group);
        });
        titled.put("Other", others);
        return titled;
    }

    private static String topic(OpenApiDescription.Operation operation) {
        return operation.path().startsWith("/v1/")
                ? operation.path().substring(4).split("[/:]", 2)[0]
                : "";
    }

    private static String summary(OpenApiDescription.Operation operation) {
        return operation.node().path("summary").stringValue("");
    }

    private String requestCell(OpenApiDescription.Operation operation) {
        List<String> parts = new ArrayList<>();
        for (String place : List.of("query", "header")) {
            List<String> names = StreamSupport.stream(
                            operation.node().path("parameters").spliterator(), false)
                    .filter(parameter -> parameter.path("in").stringValue("").equals(place))
                    .filter(parameter -> !isOfEveryRead(operation, parameter))
                    .map(parameter -> "`%s%s`"
                            .formatted(
                                    parameter.path("name").stringValue(""),
                                    parameter.path("required").booleanValue(false) ? "" : "?"))
                    .toList();
            if (!names.isEmpty()) parts.add(place + " " + String.join(", ", names));
        }
        JsonNode body =
                operation.node().path("requestBody").path("content").path(JSON).path("schema");
        String fields = fields(resolved(body));
        if (!fields.isEmpty()) parts.add("body " + fields);
        return String.join("; ", parts);
    }

    /** The page explains If-None-Match once. */
    private static boolean isOfEveryRead(OpenApiDescription.Operation operation, JsonNode parameter) {
        return operation.method().equals("GET")
                && parameter.path("name").stringValue("").equals("If-None-Match");
    }

    private String responseCell(OpenApiDescription.Operation operation) {
        Map<String, List<String>> statuses = new LinkedHashMap<>();
        operation.node().path("responses").properties().forEach(response -> {
            if (response.getKey().compareTo("300") >= 0) return;
            JsonNode content = response.getValue().path("content");
            String what = content.has(JSON)
                    ? schemaName(content.path(JSON).path("schema"))
                    : content.properties().stream()
                            .map(Map.Entry::getKey)
                            .findFirst()
                            .orElse("");
            statuses.computeIfAbsent(what, w -> new ArrayList<>()).add(response.getKey());
        });
        return statuses.entrySet().stream()
                .map(answer -> (String.join(", ", answer.getValue()) + " " + answer.getKey()).strip())
                .collect(Collectors.joining("; "));
    }

    /** Returns the name of a schema; for a list, the name of its items. */
    private String schemaName(JsonNode schema) {
        JsonNode inner = resolved(schema);
        JsonNode items = inner.path("properties").path("items").path("items");
        boolean page = inner.path("properties").has("next");
        if (items.has("$ref") && inner.path("properties").size() == (page ? 2 : 1))
            return (page ? "page of " : "list of ") + schemaName(items);
        String name = name(schema);
        if (name.isEmpty()) return "";
        if (schemas.add(name)) fields(inner);
        return "`" + name + "`";
    }

    private String fields(JsonNode schema) {
        Set<String> required = new TreeSet<>();
        for (JsonNode name : schema.path("required")) required.add(name.stringValue(""));
        return schema.path("properties").properties().stream()
                .map(field -> "`%s%s`%s"
                        .formatted(
                                field.getKey(), required.contains(field.getKey()) ? "" : "?", kind(field.getValue())))
                .collect(Collectors.joining(", "));
    }

    private String kind(JsonNode field) {
        if (field.has("$ref")) return " (" + schemaName(field) + ")";
        return field.path("items").has("$ref") ? " (list of " + schemaName(field.path("items")) + ")" : "";
    }

    private String schemasSection() {
        StringBuilder text = new StringBuilder("\n### Schemas\n\n| schema | fields |\n|---|---|\n");
        for (String name : List.copyOf(schemas)) {
            JsonNode schema = openApiDescription.at("/components/schemas/" + name);
            if (schema.path("properties").isEmpty()) continue;
            String about = schema.path("description").stringValue("");
            text.append("| `%s` | %s |\n"
                    .formatted(name, String.join(" ", about, fields(schema)).strip()));
        }
        return text.toString();
    }

    private String problems() {
        Map<String, String> lines = new TreeMap<>();
        for (OpenApiDescription.Operation operation : openApiDescription.operations())
            operation.node().path("responses").properties().forEach(response -> {
                String reference = response.getValue().path("$ref").stringValue("");
                if (reference.isEmpty() || response.getKey().compareTo("400") < 0) return;
                JsonNode problem = openApiDescription.at(reference.substring(1));
                String codes = StreamSupport.stream(problem.path("x-codes").spliterator(), false)
                        .map(code -> "`" + code.stringValue("") + "`")
                        .collect(Collectors.joining(", "));
                lines.put(
                        response.getKey(),
                        "| %s | %s | %s |\n"
                                .formatted(
                                        response.getKey(),
                                        problem.path("description").stringValue(""),
                                        codes));
            });
        return "\n### Problems\n\n| status | means | `code` |\n|---|---|---|\n" + String.join("", lines.values());
    }

    private JsonNode resolved(JsonNode schema) {
        String name = name(schema);
        return name.isEmpty() ? schema : openApiDescription.at("/components/schemas/" + name);
    }

    private static String name(JsonNode schema) {
        String reference = schema.path("$ref").stringValue("");
        return reference.startsWith(SCHEMA) ? reference.substring(SCHEMA.length()) : "";
    }
}
