package io.carillon.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Log statements of the product escape text of callers. */
class LogArgumentsTest {
    @TempDir
    Path root;

    @Test
    void the_product_escapes_text_of_callers_in_every_log_statement() {
        assertThat(new LogArguments(SourceTree.here()).violations()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "log.info(\"paused reason={}\", paused.reason());",
                "log.warn(\"failed (a, b) run={} error={}\", attempt.run(), failure.getMessage());",
                "log.warn(\n    \"failed error={}\",\n    failure\n        .toString());",
                "if (x) log.debug(\"host={} port={}\", target.host(), target.port());",
                "String reason = text(); log.error(\"closed reason={}\", reason);",
                "log.info(\"paused \" + reason);",
                "log.info(reason + \" paused\");",
                "log.info(\"paused %s\".formatted(reason));",
            })
    void text_of_a_caller_that_is_not_escaped_is_stopped(String statement) throws IOException {
        write(statement);

        assertThat(new LogArguments(new SourceTree(root)).violations()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "log.info(\"paused reason={}\", ControlCharacters.escape(paused.reason()));",
                "log.info(\"a constant\" + \" in two parts run={}\", attempt.run());",
                "log.info(held ? \"acquired\" : \"lost\");",
                "int runs = 1; log.info(\"runs={} of={}\", runs, all.size() - runs);",
                "try {} catch (SQLException | RuntimeException e) { log.warn(\"failed\", e); }",
            })
    void other_statements_are_allowed(String statement) throws IOException {
        write(statement);

        assertThat(new LogArguments(new SourceTree(root)).violations()).isEmpty();
    }

    private void write(String statement) throws IOException {
        Path file = root.resolve("one/src/main/java/Sample.java");
        Files.createDirectories(file.getParent());
        Files.writeString(root.resolve("one/pom.xml"), "<project/>");
        Files.writeString(file, "class Sample { void sample() { " + statement + " } }");
    }
}
