package io.carillon.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
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
    void text_is_readable() {
        StringWriter written = new StringWriter();
        LogSetup.linesTo(new PrintWriter(written), false);

        LoggerFactory.getLogger("there").info("hello");

        assertThat(written.toString()).containsPattern("Z INFO  \\[.*] there hello\n");
    }
}
