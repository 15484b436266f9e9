package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.architecture.SourceTree;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * docs/requirements.md has a row for every requirement, and the evidence that it, docs/faults.md and docs/security.md
 * name exists. Evidence that only the slow tests execute is marked " (slow)".
 */
class EvidencePagesTest {

    private static final int LAST = 216;
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$");
    private static final Pattern TEST =
            Pattern.compile("`(io\\.carillon(?:\\.\\w+)*\\.[A-Z]\\w*)(?:#(\\w+))?`( \\(slow\\))?");
    private static final Pattern TYPE = Pattern.compile("(?m)^(?:\\w+ )*(?:class|interface) \\w");
    private static final String SLOW_TAG = "@Tag(\"slow\")";
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
                | 1 | a | `io.carillon.it.observability.MetersTest#every_meter_changes`, [states](GLOSSARY.md#states) |
                | 2 | b | `io.carillon.it.docs.EvidencePagesTest` |
                | 3 | c | `io.carillon.it.docs.NoSuchTest` |
                | 4 | d | [nothing](no-such-page.md) |
                | 5 | e | soon |
                | 6 | f | `io.carillon.it.docs.EvidencePagesTest#evidence_that_does_not_exist_is_found` |
                | 7 | g | `io.carillon.it.docs.EvidencePagesTest#evidence_that` |
                | 8 | h | `io.carillon.it.docs.EvidencePagesTest#evidence_that_does_not_exist_is_found` (slow) |
                | 9 | i | `io.carillon.it.cluster.LimitClusterTest#a_limit_holds_while_nodes_are_killed_and_replaced` |
                | 10 | j | `io.carillon.it.wakeup.WakeLatencyTest#queue_starts_within_a_second` |
                | 11 | k | `io.carillon.it.wakeup.WakeLatencyTest#queue_starts_within_a_second` (slow) |
                """);

        assertThat(rows.stream().flatMap(EvidencePagesTest::violations))
                .containsExactly(
                        "2: no method of io.carillon.it.docs.EvidencePagesTest is named",
                        "3: no test io.carillon.it.docs.NoSuchTest",
                        "4: no page docs/no-such-page.md",
                        "5: neither a test in backticks nor a link to a page: soon",
                        "7: no test evidence_that in io.carillon.it.docs.EvidencePagesTest",
                        "8: marked as slow, but fast: evidence_that_does_not_exist_is_found",
                        "9: slow, but not marked: a_limit_holds_while_nodes_are_killed_and_replaced",
                        "10: slow, but not marked: queue_starts_within_a_second");
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
            return methodViolation(test, SourceTree.read(source.get()));
        }
        var page = PAGE.matcher(evidence);
        if (page.matches()) {
            Path file = DOCS.resolve(page.group(1)).normalize();
            return Files.exists(file) ? Stream.of() : Stream.of("no page " + TREE.shown(file));
        }
        return Stream.of("neither a test in backticks nor a link to a page: " + evidence);
    }

    private static Stream<String> methodViolation(MatchResult test, String source) {
        String name = test.group(2);
        if (name == null) return Stream.of("no method of " + test.group(1) + " is named");
        // A test factory returns a stream. Private methods are not tests.
        var method =
                Pattern.compile("(?m)^    (?:public )?[\\w<>]+ " + name + "\\(").matcher(source);
        if (!method.find()) return Stream.of("no test " + name + " in " + test.group(1));
        boolean slow = isSlow(source, method.start());
        if (slow == (test.group(3) != null)) return Stream.of();
        return Stream.of((slow ? "slow, but not marked: " : "marked as slow, but fast: ") + name);
    }

    /** Returns whether the class or the method has the tag. A blank line precedes the annotations of a method. */
    private static boolean isSlow(String source, int method) {
        String aboveType = TYPE.split(source, 2)[0];
        String aboveMethod = source.substring(source.lastIndexOf("\n\n", method), method);
        return aboveType.contains(SLOW_TAG) || aboveMethod.contains(SLOW_TAG);
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
