package io.carillon.cli.answer;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.cli.shell.Shell;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class PrinterTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final JsonNode ITEM = JSON.readTree("""
                    {"name":"a","when":{"cron":"0 2 * * *","except":[]},"list":[{"x":1,"z":["p","no"]},2],\
                    "text":"a: b\\u001b\\n","none":null}
                    """);

    private static Printer as(Format format) {
        PrintWriter nowhere = new PrintWriter(new StringWriter());
        return new Printer(new Shell(nowhere, nowhere, Map.of(), () -> Instant.EPOCH), format);
    }

    @Test
    void a_table_has_a_column_for_each_field_and_nothing_that_moves_the_cursor() {
        assertThat(as(Format.TABLE)
                        .listText(List.of(ITEM), "name", List.of("name", "when.cron", "list.1", "text", "none")))
                .isEqualTo("""
                        NAME  CRON       LIST  TEXT          NONE
                        a     0 2 * * *  2     a: b\\u001b\\n  -""");
    }

    @Test
    void a_target_is_shown_in_a_row_by_its_handler_or_url() {
        List<JsonNode> items = List.of(
                JSON.readTree("{\"target\":{\"handler\":\"mail.send\"}}"),
                JSON.readTree("{\"target\":{\"url\":\"https://a.example\",\"method\":\"POST\",\"timeouts\":{}}}"));

        assertThat(as(Format.TABLE).listText(items, "target", List.of("target")))
                .isEqualTo("""
                        TARGET
                        mail.send
                        POST https://a.example""");
    }

    @Test
    void yaml_is_in_block_style_and_quotes_ambiguous_text() {
        assertThat(as(Format.YAML).itemText(ITEM, "name")).isEqualTo("""
                        name: a
                        when:
                          cron: "0 2 * * *"
                          except: []
                        list:
                          - x: 1
                            z:
                              - p
                              - "no"
                          - 2
                        text: "a: b\\u001B\\n"
                        none: null""");
    }

    @Test
    void an_empty_list_is_a_sentence_for_people_and_empty_for_programs() {
        assertThat(emptyAs(Format.TABLE)).containsExactly("", "No items found.\n");
        assertThat(emptyAs(Format.NAME)).containsExactly("", "");
        assertThat(emptyAs(Format.JSON)).containsExactly("[ ]\n", "");
        assertThat(emptyAs(Format.YAML)).containsExactly("[]\n", "");
    }

    @Test
    void no_format_sends_a_command_to_the_terminal() {
        String hostile = "\u001b[2J \u009b2J \u202e \u2028 \u0007";
        JsonNode item = JSON.createObjectNode().put("name", hostile);
        for (Format format : Format.values()) {
            StringWriter out = new StringWriter();
            Printer printer = new Printer(
                    new Shell(new PrintWriter(out), new PrintWriter(out), Map.of(), () -> Instant.EPOCH), format);
            printer.printItem(item, "name");
            printer.printList(List.of(item), "name", List.of("name"));
            printer.printResult("Paused " + hostile, item, "name");

            assertThat(out.toString().codePoints().filter(point -> point != '\n'))
                    .as("%s", format)
                    .noneMatch(point -> Character.isISOControl(point) || point == 0x202e || point == 0x2028);
            assertThat(out.toString()).contains("\\u009b2J");
        }
    }

    @Test
    void escaped_json_has_the_same_value() {
        JsonNode item = JSON.createObjectNode().put("name", "\u001b \u009b \u202e \n");
        StringWriter out = new StringWriter();

        new Printer(new Shell(new PrintWriter(out), new PrintWriter(out), Map.of(), () -> Instant.EPOCH), Format.JSON)
                .printItem(item, "name");

        assertThat(JSON.readTree(out.toString())).isEqualTo(item);
    }

    private static List<String> emptyAs(Format format) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        new Printer(
                        new Shell(
                                new PrintWriter(out, true), new PrintWriter(err, true), Map.of(), () -> Instant.EPOCH),
                        format)
                .printList(List.of(), "name", List.of("name"));
        return List.of(out.toString(), err.toString());
    }

    @Test
    void the_name_format_prints_names_only() {
        assertThat(as(Format.NAME).listText(List.of(ITEM, ITEM), "name", List.of("name")))
                .isEqualTo("a\na");
    }
}
