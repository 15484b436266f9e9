package io.carillon.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class LogSetupTest {
    @Test
    void json_is_one_object_per_line_for_any_event() {
        StringWriter written = new StringWriter();
        LogSetup.linesTo(new PrintWriter(written), true);

        MDC.put("runId", "run_1");
        LoggerFactory.getLogger("there").warn("two\nlines \"quoted\"", new IllegalStateException("broken"));
        MDC.clear();

        assertThat(written.toString().lines()).hasSize(1);
        JsonNode line = new JsonMapper().readTree(written.toString());
        assertThat(line.path("level").stringValue()).isEqualTo("WARN");
        assertThat(line.path("message").stringValue()).isEqualTo("two\nlines \"quoted\"");
        assertThat(line.path("runId").stringValue()).isEqualTo("run_1");
        assertThat(line.path("stack").stringValue()).contains("IllegalStateException: broken");
    }

    @Test
    void pairs_of_the_message_are_fields_of_the_json() {
        JsonNode line = json(log -> log.info(
                "request answered method={} path={} status={} limited={} from={}", "GET", "/v1/runs", 200, true, null));

        assertThat(line.path("message").stringValue()).isEqualTo("request answered");
        assertThat(line.path("method").stringValue()).isEqualTo("GET");
        assertThat(line.path("status").longValue()).isEqualTo(200);
        assertThat(line.path("limited").booleanValue()).isTrue();
        assertThat(line.path("from").isNull()).isTrue();
    }

    @Test
    void text_of_a_caller_becomes_no_field() {
        JsonNode line = json(log -> log.warn(
                "run dead run={} error='{}'", "run_1", "x level=ERROR {} admin=true", new IllegalStateException("y")));

        assertThat(line.path("message").stringValue()).isEqualTo("run dead");
        assertThat(line.path("error").stringValue()).isEqualTo("x level=ERROR {} admin=true");
        assertThat(line.path("level").stringValue()).isEqualTo("WARN");
        assertThat(line.has("admin")).isFalse();
        assertThat(line.path("stack").stringValue()).contains("IllegalStateException: y");
    }

    @Test
    void a_pair_replaces_no_field_of_the_line_and_values_without_a_name_stay_in_the_message() {
        JsonNode line = json(log -> log.info("more than {} keys thread={} at={}", 100, "main-7", "noon"));

        assertThat(line.path("message").stringValue()).isEqualTo("more than 100 keys");
        assertThat(line.path("thread").stringValue())
                .isEqualTo(Thread.currentThread().getName());
        assertThat(line.path("thread_").stringValue()).isEqualTo("main-7");
        assertThat(line.path("at").stringValue()).startsWith("20");
        assertThat(line.path("at_").stringValue()).isEqualTo("noon");
    }

    private static JsonNode json(Consumer<Logger> event) {
        StringWriter written = new StringWriter();
        LogSetup.linesTo(new PrintWriter(written), true);
        event.accept(LoggerFactory.getLogger("there"));
        assertThat(written.toString().lines()).hasSize(1);
        return new JsonMapper().readTree(written.toString());
    }

    private static final String FORGED = "x\n2026-01-01T00:00:00.000Z ERROR forged \u001b[2J \u009b \u202e \u2028";
    private static final String ESCAPED =
            "x\\n2026-01-01T00:00:00.000Z ERROR forged \\u001b[2J \\u009b \\u202e \\u2028";

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void text_of_a_caller_forges_no_line(boolean json) {
        StringWriter written = new StringWriter();
        LogSetup.linesTo(new PrintWriter(written), json);

        MDC.put("runId", FORGED);
        LoggerFactory.getLogger("there").info("paused reason={}", FORGED);
        MDC.clear();

        assertThat(written.toString().lines()).hasSize(1);
        assertThat(written.toString())
                .containsIgnoringCase(json ? "\"paused\",\"reason\":\"" + ESCAPED : "paused reason=" + ESCAPED);
        assertThat(controls(written.toString())).containsExactly((int) '\n');
    }

    @Test
    void only_the_stack_trace_has_more_lines() {
        StringWriter written = new StringWriter();
        LogSetup.linesTo(new PrintWriter(written), false);
        Exception failure = new IllegalStateException(FORGED, new IllegalArgumentException(FORGED));
        failure.addSuppressed(new IllegalArgumentException(FORGED));

        LoggerFactory.getLogger("there").warn("failed", failure);

        assertThat(written.toString().lines())
                .anyMatch(line -> line.equals("java.lang.IllegalStateException: " + ESCAPED))
                .anyMatch(line -> line.equals("Caused by: java.lang.IllegalArgumentException: " + ESCAPED))
                .anyMatch(line -> line.equals("\tSuppressed: java.lang.IllegalArgumentException: " + ESCAPED))
                .anyMatch(line -> line.startsWith("\tat io.carillon.cli.shell.LogSetupTest"))
                .noneMatch(line -> line.startsWith("2026-01-01"));
        assertThat(controls(written.toString())).containsOnly((int) '\n', (int) '\t');
    }

    @Test
    void warnings_and_the_file_are_escaped_too(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("carillon.log");
        List<String> warnings = new ArrayList<>();
        LogSetup.toFile(file, warnings::add);

        LoggerFactory.getLogger("there").warn("paused reason={}", FORGED);

        assertThat(warnings).containsExactly("WARN paused reason=" + ESCAPED);
        assertThat(Files.readString(file).lines()).singleElement().asString().endsWith("paused reason=" + ESCAPED);
    }

    private static List<Integer> controls(String text) {
        return text.codePoints()
                .filter(point -> Character.isISOControl(point) || point == 0x202e || point == 0x2028)
                .boxed()
                .toList();
    }

    @Test
    void text_is_readable() {
        StringWriter written = new StringWriter();
        LogSetup.linesTo(new PrintWriter(written), false);

        LoggerFactory.getLogger("there").info("hello");

        assertThat(written.toString()).containsPattern("Z INFO  \\[.*] there hello\n");
    }
}
