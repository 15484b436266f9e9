package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that each Java line of the user pages is in a compiled file. */
class SnippetsTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Path ROOT = Path.of("..");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "README.md",
                "docs/library.md",
                "docs/guarantees.md",
                "docs/missed.md",
                "docs/editing.md",
                "docs/wakeup.md",
                "docs/observability.md",
                "docs/schedules.md",
                "docs/rest.md",
                "docs/webhooks.md",
                "docs/operations.md"
            })
    void every_java_line_of_a_page_is_compiled(String page) throws IOException {
        String compiled = compiled();
        List<String> lines = lines(Files.readString(ROOT.resolve(page)));

        assertThat(lines).as("java lines of " + page).isNotEmpty();
        assertThat(lines.stream().filter(line -> !compiled.contains(line))).isEmpty();
    }

    @Test
    void a_line_that_is_not_compiled_is_detected() throws IOException {
        assertThat(lines("```java\ncarillon.enqueueSomehow();\n```")).noneMatch(compiled()::contains);
    }

    private static String compiled() throws IOException {
        Path here = Path.of("src/test/java/io/carillon/it/docs");
        return Files.readString(here.resolve("Snippets.java")) + Files.readString(here.resolve("WebhookSnippets.java"));
    }

    private static List<String> lines(String page) {
        Matcher blocks = BLOCK.matcher(page);
        return blocks.results()
                .flatMap(block -> Stream.of(block.group(1).split("\n")))
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .toList();
    }
}
