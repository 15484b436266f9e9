package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks that each Java line of the user pages is in a compiled file. */
class SnippetsTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Path ROOT = Path.of("..");

    /** The pages whose Java lines are in a compiled file. */
    private static final List<String> PAGES = List.of(
            "README.md",
            "docs/library.md",
            "docs/guarantees.md",
            "docs/missed.md",
            "docs/cron.md",
            "docs/editing.md",
            "docs/wakeup.md",
            "docs/observability.md",
            "docs/schedules.md",
            "docs/rest.md",
            "docs/dashboard.md",
            "docs/webhooks.md",
            "docs/events.md",
            "docs/kafka.md",
            "docs/workflows.md",
            "docs/operations.md");

    static List<String> pages() {
        return PAGES;
    }

    /** The page on tests is compiled by a test of its own. */
    static Stream<String> allPages() {
        return Stream.concat(PAGES.stream(), Stream.of("docs/testing.md"));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void every_java_line_of_a_page_is_compiled(String page) throws IOException {
        String compiled = compiled();
        List<String> lines = lines(Files.readString(ROOT.resolve(page)));

        assertThat(lines).as("java lines of " + page).isNotEmpty();
        assertThat(lines.stream().filter(line -> !compiled.contains(line))).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("allPages")
    void every_snippet_imports_what_it_names_and_no_more(String page) throws IOException {
        Map<String, String> imports = imports();

        BLOCK.matcher(Files.readString(ROOT.resolve(page)))
                .results()
                .map(block -> block.group(1))
                .forEach(block -> assertThat(importLines(block))
                        .as("imports of this block of %s:%n%s", page, block)
                        .containsExactlyInAnyOrderElementsOf(wantedImports(block, imports)));
    }

    private static List<String> importLines(String block) {
        return block.lines().filter(line -> line.startsWith("import ")).toList();
    }

    /** Returns the imports of the compiled files whose names the block uses. */
    private static List<String> wantedImports(String block, Map<String, String> imports) {
        String code = block.lines()
                .filter(line -> !line.startsWith("import "))
                .map(line -> line.replaceAll("\"(\\\\.|[^\"\\\\])*\"", "\"\"").replaceAll("//.*", ""))
                .collect(Collectors.joining("\n"));
        return imports.entrySet().stream()
                .filter(one -> Pattern.compile("(?<![.\\w])" + one.getKey() + "\\b")
                        .matcher(code)
                        .find())
                .map(Map.Entry::getValue)
                .toList();
    }

    /** Returns the imports of the compiled files by their simple name. */
    private static Map<String, String> imports() throws IOException {
        Map<String, String> imports = new TreeMap<>();
        String testing = Files.readString(Path.of("src/test/java/io/carillon/it/testkit/TestingPageTest.java"));
        importLines(compiled() + "\n" + testing)
                .forEach(line -> imports.put(line.substring(line.lastIndexOf('.') + 1, line.length() - 1), line));
        return imports;
    }

    @Test
    void a_line_that_is_not_compiled_is_detected() throws IOException {
        assertThat(lines("```java\ncarillon.enqueueSomehow();\n```")).noneMatch(compiled()::contains);
    }

    private static String compiled() throws IOException {
        Path here = Path.of("src/test/java/io/carillon/it/docs");
        return Files.readString(here.resolve("Snippets.java"))
                + Files.readString(here.resolve("WebhookSnippets.java"))
                + Files.readString(here.resolve("EventSnippets.java"))
                + Files.readString(here.resolve("KafkaSnippets.java"))
                + Files.readString(here.resolve("DashboardSnippets.java"))
                + Files.readString(here.resolve("WorkflowSnippets.java"));
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
