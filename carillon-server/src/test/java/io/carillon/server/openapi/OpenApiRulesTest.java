package io.carillon.server.openapi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * The description satisfies the rules that common linters and generators of clients apply (the rule set {@code
 * spectral:oas}), so that a generated client has one documented class for each tag.
 */
class OpenApiRulesTest {
    private static final OpenApiDescription API = OpenApiDescription.instance();
    private static final Pattern PATH_PARAMETER = Pattern.compile("\\{([^}]+)}");

    @Test
    void the_head_names_contact_license_and_servers() {
        for (String pointer : List.of(
                "/info/title",
                "/info/version",
                "/info/description",
                "/info/contact/name",
                "/info/license/name",
                "/servers/0/url",
                "/servers/0/description"))
            assertThat(text(API.at(pointer))).as(pointer).isNotBlank();
    }

    @Test
    void every_operation_has_one_tag_of_the_global_list() {
        List<String> tags =
                stream(API.at("/tags")).map(tag -> text(tag.path("name"))).toList();
        Set<String> used = new TreeSet<>();
        for (OpenApiDescription.Operation operation : API.operations()) {
            assertThat(operation.node().path("tags"))
                    .as("tags of %s", operation)
                    .hasSize(1);
            used.add(text(operation.node().at("/tags/0")));
        }

        assertThat(tags).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(used);
        assertThat(stream(API.at("/tags")))
                .allMatch(tag -> !text(tag.path("description")).isBlank());
    }

    @Test
    void every_operation_has_an_id_a_summary_and_a_description_that_says_more() {
        List<String> ids = new ArrayList<>();
        for (OpenApiDescription.Operation operation : API.operations()) {
            JsonNode node = operation.node();
            ids.add(text(node.path("operationId")));
            assertThat(text(node.path("operationId"))).as("%s", operation).matches("[a-z][A-Za-z]+");
            assertThat(text(node.path("summary")))
                    .as("summary of %s", operation)
                    .isNotBlank();
            assertThat(text(node.path("description")))
                    .as("description of %s", operation)
                    .hasSizeGreaterThan(30)
                    .endsWith(".")
                    .doesNotContain(text(node.path("summary")));
            assertThat(node.path("responses").propertyNames())
                    .as("%s", operation)
                    .anyMatch(status -> status.startsWith("2"));
        }

        assertThat(ids).doesNotHaveDuplicates();
    }

    @Test
    void the_parameters_of_a_path_are_declared_and_no_others() {
        for (OpenApiDescription.Operation operation : API.operations()) {
            Set<String> inPath = PATH_PARAMETER
                    .matcher(operation.path())
                    .results()
                    .map(found -> found.group(1))
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(operation.parameters("path")).as("%s", operation).isEqualTo(inPath);
            assertThat(operation.path()).doesNotEndWith("/").doesNotContain("?");
        }
    }

    @Test
    void every_parameter_has_a_description() {
        List<String> without = new ArrayList<>();
        for (OpenApiDescription.Operation operation : API.operations())
            stream(operation.node().path("parameters"))
                    .filter(parameter -> text(parameter.path("description")).isBlank())
                    .forEach(parameter -> without.add(operation + " " + text(parameter.path("name"))));

        assertThat(without).isEmpty();
    }

    @Test
    void every_read_declares_that_nothing_may_have_changed() {
        assertThat(API.operations().stream()
                        .filter(operation -> operation.method().equals("GET"))
                        .filter(operation -> operation.path().startsWith("/v1/"))
                        .filter(operation -> !operation.isStream()))
                .allSatisfy(operation -> {
                    assertThat(operation.parameters("header")).contains("If-None-Match");
                    assertThat(text(operation.node().at("/responses/304/$ref")))
                            .isEqualTo("#/components/responses/NotModified");
                });
    }

    @Test
    void every_json_body_and_response_has_an_example() {
        List<String> without = new ArrayList<>();
        for (OpenApiDescription.Operation operation : API.operations()) {
            Map<String, JsonNode> contents = new TreeMap<>();
            contents.put("request", operation.node().at("/requestBody/content"));
            operation
                    .node()
                    .path("responses")
                    .properties()
                    .forEach(response -> contents.put(
                            response.getKey(), API.resolve(response.getValue()).path("content")));
            contents.forEach((what, content) -> content.properties().stream()
                    .filter(media -> media.getKey().contains("json"))
                    .filter(media -> examples(media.getValue().path("schema")).isEmpty())
                    .forEach(media -> without.add(operation + " " + what)));
        }

        assertThat(without).isEmpty();
    }

    @Test
    void every_example_fits_its_schema() {
        Map<String, List<String>> wrong = new TreeMap<>();
        API.at("/components/schemas").properties().forEach(schema -> {
            for (JsonNode example : examples(schema.getValue())) {
                List<String> violations = API.schemaViolations(schema.getValue(), example);
                if (!violations.isEmpty()) wrong.put(schema.getKey(), violations);
            }
        });

        assertThat(wrong).isEmpty();
    }

    @Test
    void every_component_is_used_and_every_reference_leads_to_one() {
        Set<String> references = API.at("").findValues("$ref").stream()
                .map(OpenApiRulesTest::text)
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> components = new TreeSet<>();
        API.at("/components").properties().stream()
                .filter(kind -> !kind.getKey().equals("securitySchemes"))
                .forEach(kind -> kind.getValue()
                        .propertyNames()
                        .forEach(name -> components.add("#/components/" + kind.getKey() + "/" + name)));

        assertThat(references).isEqualTo(components);
    }

    @Test
    void enums_have_distinct_values_of_their_type_and_arrays_have_items() {
        List<String> wrong = new ArrayList<>();
        checkSchemas(API.at(""), "", wrong);

        assertThat(wrong).isEmpty();
    }

    private static void checkSchemas(JsonNode node, String at, List<String> wrong) {
        JsonNode values = node.path("enum");
        if (values.isArray()) {
            if (stream(values).distinct().count() < values.size()) wrong.add(at + " repeats a value");
            if (!text(node.path("type")).equals("string") || !stream(values).allMatch(JsonNode::isString))
                wrong.add(at + " has values of another type");
        }
        if (text(node.path("type")).equals("array") && !node.has("items")) wrong.add(at + " has no items");
        node.properties().stream()
                .filter(field -> !field.getKey().equals("examples"))
                .forEach(field -> checkSchemas(field.getValue(), at + "/" + field.getKey(), wrong));
        for (int i = 0; node.isArray() && i < node.size(); i++) checkSchemas(node.get(i), at + "/" + i, wrong);
    }

    private static List<JsonNode> examples(JsonNode schema) {
        return stream(API.resolve(schema).path("examples")).toList();
    }

    private static Stream<JsonNode> stream(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false);
    }

    private static String text(JsonNode node) {
        return node.stringValue("");
    }
}
