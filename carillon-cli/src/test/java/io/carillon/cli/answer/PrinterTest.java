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
    private static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");
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
        assertThat(as(Format.TABLE).listText(List.of(ITEM), "name", List.of("name", "when.cron", "list.1", "text")))
                .isEqualTo("""
                        NAME  CRON       LIST  TEXT
                        a     0 2 * * *  2     a: b\\u001b""");
    }

    @Test
    void a_column_without_any_value_is_left_out_unless_the_table_is_wide() {
        List<JsonNode> items = List.of(
                JSON.readTree("{\"name\":\"a\",\"queues\":[],\"scopes\":[\"read\",\"enqueue\"],\"x\":null}"),
                JSON.readTree("{\"name\":\"b\",\"queues\":[]}"));
        List<String> columns = List.of("name", "queues", "scopes", "x", "y");

        assertThat(wideAs(200, false).listText(items, "name", columns)).isEqualTo("""
                        NAME  SCOPES
                        a     read, enqueue
                        b     -""");
        assertThat(wideAs(200, true).listText(items, "name", columns)).startsWith("NAME  QUEUES  SCOPES ");
    }

    @Test
    void the_last_column_continues_on_further_lines_if_it_must_be_read_to_its_end() {
        JsonNode item = JSON.createObjectNode().put("check", "health").put("finding", "one two three four five six");

        assertThat(wideAs(30, false).wrapping().listText(List.of(item), "check", List.of("check", "finding")))
                .isEqualTo("""
                        CHECK   FINDING
                        health  one two three four
                                five six""");
    }

    @Test
    void an_item_shows_each_value_of_a_list_in_a_line() {
        JsonNode item = JSON.readTree("""
                {"next":["2026-06-01T12:00:05Z","2099-01-01T00:00:00Z"],"none":[],"payload":["a",1]}""");

        assertThat(wideAs(80, false).itemText(item, "next")).isEqualTo("""
                        next     2026-06-01T12:00:05Z  (in 5 s)
                                 2099-01-01T00:00:00Z
                        none     -
                        payload  ["a",1]""");
    }

    @Test
    void an_item_has_a_line_for_each_field_of_a_listed_object_and_for_each_header() {
        JsonNode item = JSON.readTree("""
                {"secrets":[{"name":"main","createdAt":"2026-06-01T12:00:05Z"},{"name":"second"}],\
                "headers":{"content-type":"a/b","x.y":"1"},"quota":{}}""");

        assertThat(wideAs(80, false).itemText(item, "name")).isEqualTo("""
                        secrets.0.name       main
                        secrets.0.createdAt  2026-06-01T12:00:05Z  (in 5 s)
                        secrets.1.name       second
                        headers              content-type: a/b
                                             x.y: 1
                        quota                -""");
    }

    @Test
    void a_payload_that_is_longer_than_a_line_has_a_line_for_each_value() {
        JsonNode item = JSON.createObjectNode()
                .set("payload", JSON.createObjectNode().put("a", "x".repeat(90)).put("b", "\u001b"));

        assertThat(wideAs(80, false).itemText(item, "name")).isEqualTo("""
                        payload  {
                                   "a" : "%s",
                                   "b" : "\\u001B"
                                 }""".formatted("x".repeat(90)));
    }

    @Test
    void the_frames_of_the_library_are_not_those_of_the_application() {
        JsonNode item = JSON.createObjectNode().put("reason", """
                a.B: bad
                \tat my.app.Job.run(Job.java:7)
                \tat io.carillon.CarillonBuilder.lambda$handle$1(CarillonBuilder.java:79)
                \tat io.carillon.webhook.Webhooks.send(Webhooks.java:1)
                \tat io.carillon.internal.engine.Engine.run(Engine.java:1)
                """);

        assertThat(wideAs(80, false).itemText(item, "reason")).isEqualTo("""
                        reason  a.B: bad
                                    at my.app.Job.run(Job.java:7)
                                    ... 3 more frames (--wide shows them)""");
    }

    @Test
    void a_target_is_shown_in_a_row_by_its_handler_or_url() {
        List<JsonNode> items = List.of(
                JSON.readTree("{\"target\":{\"handler\":\"mail.send\"}}"),
                JSON.readTree("{\"target\":{\"url\":\"https://a.example\",\"method\":\"POST\",\"timeouts\":{}}}"),
                JSON.readTree("{\"target\":{\"url\":\"https://b.example\"}}"));

        assertThat(as(Format.TABLE).listText(items, "target", List.of("target")))
                .isEqualTo("""
                        TARGET
                        mail.send
                        POST https://a.example
                        https://b.example""");
    }

    private static Printer wideAs(int columns, boolean wide) {
        PrintWriter nowhere = new PrintWriter(new StringWriter());
        Shell shell = new Shell(nowhere, nowhere, Map.of("COLUMNS", "" + columns), () -> NOW);
        return new Printer(shell, new Layout(Format.TABLE, wide, false));
    }

    @Test
    void a_table_fits_the_terminal_and_its_name_is_never_cut() {
        JsonNode item = JSON.createObjectNode()
                .put("id", "run_01m7fa4qd2e008xnc9yb7qb9av")
                .put("error", "java.lang.IllegalStateException: no paper in any of the printers\n\tat a.B.c(B.java:1)")
                .put("n", 1);
        List<String> columns = List.of("error", "id", "n");

        assertThat(wideAs(60, false).listText(List.of(item), "id", columns)).isEqualTo("""
                        ERROR                      ID                              N
                        IllegalStateException: n~  run_01m7fa4qd2e008xnc9yb7qb9av  1""");
        assertThat(wideAs(20, false).listText(List.of(item), "id", columns)).contains("Illegal~  run_01m7fa4qd2e008");
        assertThat(wideAs(60, true).listText(List.of(item), "id", columns)).contains("any of the printers  run_");
    }

    @Test
    void times_are_relative_to_now_unless_they_are_far_away() {
        JsonNode item = JSON.readTree("""
                {"a":"2026-06-01T11:57:01.5Z","b":"2026-06-01T12:00:12Z","c":"2099-01-01T00:00:00Z",\
                "d":"2026-06-01T12:00:00.1Z","e":"PT1M5S","f":"2026-05-29T12:00:00Z","g":"PT0.012S"}""");
        Printer printer = wideAs(200, false);

        assertThat(printer.listText(List.of(item), "a", List.of("a", "b", "c", "d", "e", "f", "g")))
                .endsWith("2 min ago  in 12 s  2099-01-01  now  1 min 5 s  3 d ago  12 ms");
        assertThat(printer.absolute().listText(List.of(item), "a", List.of("a", "e")))
                .endsWith("2026-06-01T11:57:01.5Z  1 min 5 s");
        assertThat(printer.itemText(item, "a")).startsWith("a  2026-06-01T11:57:01.5Z  (2 min ago)\nb  ");
    }

    @Test
    void an_item_shows_the_fields_of_objects_and_the_own_frames_of_errors() {
        JsonNode item = JSON.createObjectNode()
                .put("reason", """
                        a.B: bad
                        \tat my.app.Job.run(Job.java:7)
                        \tat java.base/java.lang.Thread.run(Thread.java:1)
                        Caused by: c.D: worse
                        \tat my.app.Mail.send(Mail.java:9)
                        \t... 12 more
                        """)
                .set("paused", JSON.createObjectNode().put("by", "me").put("why", "x\ny"));

        assertThat(wideAs(80, false).itemText(item, "reason")).isEqualTo("""
                        reason      a.B: bad
                                        at my.app.Job.run(Job.java:7)
                                    Caused by: c.D: worse
                                        at my.app.Mail.send(Mail.java:9)
                                        ... 1 more frames (--wide shows them)
                        paused.by   me
                        paused.why  x
                                    y""");
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
