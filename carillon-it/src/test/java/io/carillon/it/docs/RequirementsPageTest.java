package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.walls.SourceTree;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/requirements.md loses no number, and what it names as evidence exists. */
class RequirementsPageTest {

    private static final int LAST = 216;
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (\\d+) \\| ([^|]+) \\| ([^|]+) \\|$");
    private static final Pattern TEST = Pattern.compile("`(io\\.carillon(?:\\.\\w+)*\\.[A-Z]\\w*)`");
    private static final Pattern PAGE = Pattern.compile("\\[[^]]+]\\(([^)#]+)(?:#[^)]*)?\\)");

    private static final SourceTree TREE = SourceTree.here();
    private static final Path DOCS = TREE.root().resolve("docs");
    private static final List<Row> ROWS = rows(SourceTree.read(DOCS.resolve("requirements.md")));

    private record Row(int number, String shownBy) {}

    @Test
    void every_number_appears_exactly_once_and_in_order() {
        assertThat(ROWS.stream().map(Row::number))
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, LAST).boxed().toList());
    }

    @Test
    void every_row_names_tests_or_pages_that_exist_or_says_later() {
        assertThat(ROWS.stream().flatMap(row -> complaints(row, TREE))).isEmpty();
    }

    @Test
    void evidence_that_does_not_exist_is_found() {
        List<Row> rows = rows("""
                | 1 | a | later |
                | 2 | b | `io.carillon.it.docs.RequirementsPageTest`, [glossary](GLOSSARY.md#states) |
                | 3 | c | `io.carillon.it.docs.NoSuchTest` |
                | 4 | d | [nothing](no-such-page.md), `io.carillon.it.docs.RequirementsPageTest` |
                | 5 | e | soon |
                """);

        assertThat(rows.stream().flatMap(row -> complaints(row, TREE)))
                .containsExactly(
                        "3: no test io.carillon.it.docs.NoSuchTest",
                        "4: no page docs/no-such-page.md",
                        "5: neither a test in backticks, a link to a page, nor \"later\": soon");
    }

    private static Stream<String> complaints(Row row, SourceTree tree) {
        if (row.shownBy().equals("later")) {
            return Stream.of();
        }
        return Stream.of(row.shownBy().split(", "))
                .flatMap(evidence -> complaint(evidence, tree).map(complaint -> row.number() + ": " + complaint));
    }

    private static Stream<String> complaint(String evidence, SourceTree tree) {
        var test = TEST.matcher(evidence);
        if (test.matches()) {
            return exists(test.group(1), tree) ? Stream.of() : Stream.of("no test " + test.group(1));
        }
        var page = PAGE.matcher(evidence);
        if (page.matches()) {
            Path file = DOCS.resolve(page.group(1)).normalize();
            return Files.exists(file) ? Stream.of() : Stream.of("no page " + tree.shown(file));
        }
        return Stream.of("neither a test in backticks, a link to a page, nor \"later\": " + evidence);
    }

    private static boolean exists(String testClass, SourceTree tree) {
        Path file = Path.of("src/test/java", testClass.replace('.', '/') + ".java");
        return tree.modules().stream().anyMatch(module -> Files.exists(module.resolve(file)));
    }

    private static List<Row> rows(String page) {
        return ROW.matcher(page)
                .results()
                .map(found ->
                        new Row(Integer.parseInt(found.group(1)), found.group(3).strip()))
                .toList();
    }
}
