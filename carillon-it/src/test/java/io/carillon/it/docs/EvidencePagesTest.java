package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.architecture.SourceTree;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * docs/requirements.md has a row for every requirement, and the evidence that it, docs/faults.md and docs/security.md
 * name exists.
 */
class EvidencePagesTest {

    private static final int LAST = 216;
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$");
    private static final Pattern TEST = Pattern.compile("`(io\\.carillon(?:\\.\\w+)*\\.[A-Z]\\w*)(?:#(\\w+))?`");
    private static final Pattern PAGE = Pattern.compile("\\[[^]]+]\\(([^)#]+)(?:#[^)]*)?\\)");

    private static final SourceTree TREE = SourceTree.here();
    private static final Path DOCS = TREE.root().resolve("docs");
    private static final List<Row> REQUIREMENTS = rows(SourceTree.read(DOCS.resolve("requirements.md")));
    private static final List<Row> FAULTS = rows(SourceTree.read(DOCS.resolve("faults.md")));
    // The first table lists trust assumptions, which have no evidence.
    private static final List<Row> SECURITY =
            rows(SourceTree.read(DOCS.resolve("security.md")).split("## The server", 2)[1]);

    private record Row(String first, String shownBy) {}

    @Test
    void every_number_appears_exactly_once_and_in_order() {
        assertThat(REQUIREMENTS.stream().map(Row::first))
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, LAST).mapToObj(String::valueOf).toList());
    }

    @Test
    void every_requirement_names_tests_or_pages_that_exist_or_says_later() {
        assertThat(REQUIREMENTS.stream()
                        .filter(row -> !row.shownBy().equals("later"))
                        .flatMap(EvidencePagesTest::violations))
                .isEmpty();
    }

    @Test
    void every_fault_names_existing_test_methods() {
        assertThat(FAULTS).hasSizeGreaterThan(40);
        assertThat(FAULTS.stream().flatMap(EvidencePagesTest::violations)).isEmpty();
        assertThat(FAULTS)
                .allSatisfy(row -> assertThat(row.shownBy().split(", ")).allMatch(evidence -> evidence.contains("#")));
    }

    @Test
    void every_security_promise_names_existing_test_methods() {
        assertThat(SECURITY).hasSizeGreaterThan(30);
        assertThat(SECURITY.stream().flatMap(EvidencePagesTest::violations)).isEmpty();
        assertThat(SECURITY)
                .allSatisfy(row -> assertThat(row.shownBy().split(", ")).allMatch(evidence -> evidence.contains("#")));
    }

    @Test
    void evidence_that_does_not_exist_is_found() {
        List<Row> rows = rows("""
                | 2 | b | `io.carillon.it.docs.EvidencePagesTest`, [glossary](GLOSSARY.md#states) |
                | 3 | c | `io.carillon.it.docs.NoSuchTest` |
                | 4 | d | [nothing](no-such-page.md), `io.carillon.it.docs.EvidencePagesTest` |
                | 5 | e | soon |
                | 6 | f | `io.carillon.it.docs.EvidencePagesTest#evidence_that_does_not_exist_is_found` |
                | 7 | g | `io.carillon.it.docs.EvidencePagesTest#evidence_that` |
                """);

        assertThat(rows.stream().flatMap(EvidencePagesTest::violations))
                .containsExactly(
                        "3: no test io.carillon.it.docs.NoSuchTest",
                        "4: no page docs/no-such-page.md",
                        "5: neither a test in backticks nor a link to a page: soon",
                        "7: no test evidence_that in io.carillon.it.docs.EvidencePagesTest");
    }

    private static Stream<String> violations(Row row) {
        return Stream.of(row.shownBy().split(", "))
                .flatMap(evidence -> violation(evidence).map(message -> row.first() + ": " + message));
    }

    private static Stream<String> violation(String evidence) {
        var test = TEST.matcher(evidence);
        if (test.matches()) {
            Optional<Path> source = source(test.group(1));
            if (source.isEmpty()) return Stream.of("no test " + test.group(1));
            String method = test.group(2);
            return method == null || SourceTree.read(source.get()).contains(" void " + method + "(")
                    ? Stream.of()
                    : Stream.of("no test " + method + " in " + test.group(1));
        }
        var page = PAGE.matcher(evidence);
        if (page.matches()) {
            Path file = DOCS.resolve(page.group(1)).normalize();
            return Files.exists(file) ? Stream.of() : Stream.of("no page " + TREE.shown(file));
        }
        return Stream.of("neither a test in backticks nor a link to a page: " + evidence);
    }

    private static Optional<Path> source(String testClass) {
        Path file = Path.of("src/test/java", testClass.replace('.', '/') + ".java");
        return TREE.modules().stream()
                .map(module -> module.resolve(file))
                .filter(Files::exists)
                .findFirst();
    }

    private static List<Row> rows(String page) {
        return ROW.matcher(page)
                .results()
                .map(found -> new Row(found.group(1).strip(), found.group(3).strip()))
                .filter(row -> !row.first().startsWith("---") && !row.shownBy().equals("shown by"))
                .toList();
    }
}
