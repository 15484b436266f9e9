package io.carillon.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.it.architecture.BannedWords.Entry;
import io.carillon.it.architecture.BannedWords.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Code and documentation use none of the banned words, and the search finds each of them. */
class BannedWordsTest {

    private static final SourceTree TREE = SourceTree.here();
    private static final BannedWords BANNED =
            BannedWords.parse(SourceTree.read(TREE.root().resolve(BannedWords.LIST)));
    private static final String MAIN = "one/src/main/java/";

    /** Uses of banned words that are correct: the word, the files, the text that starts with the word, and why. */
    private static final List<Allowed> EXCEPTIONS = List.of(
            new Allowed(
                    "nobody", ".*/(RunAs|RunAsTest|PgBouncer)\\.java", "NOBODY|nobody\"", "the name of a Unix user"),
            new Allowed("wall", ".*", "(?i)wall[-_ ]?(clock|time)", "wall clock and wall time are terms of the field"));

    private static List<Finding> findings;

    @TempDir
    Path root;

    private record Allowed(String banned, String file, String text, String why) {

        boolean matches(Finding finding) {
            return finding.banned().equals(banned)
                    && finding.file().matches(file)
                    && Pattern.compile(text).matcher(finding.text()).lookingAt();
        }
    }

    @BeforeAll
    static void searchTheCheckout() {
        findings = BANNED.search(TREE);
    }

    @Test
    void code_and_documentation_use_no_banned_word() {
        assertThat(findings)
                .filteredOn(finding -> EXCEPTIONS.stream().noneMatch(allowed -> allowed.matches(finding)))
                .isEmpty();
    }

    @Test
    void every_exception_is_needed() {
        assertThat(EXCEPTIONS)
                .allSatisfy(allowed -> assertThat(findings).as(allowed.why()).anyMatch(allowed::matches));
    }

    @Test
    void all_kinds_of_files_are_searched() {
        assertThat(BannedWords.files(TREE))
                .extracting(TREE::shown)
                .doesNotHaveDuplicates()
                .contains(
                        "README.md",
                        "carillon",
                        "pom.xml",
                        "carillon-cli/pom.xml",
                        "docs/GLOSSARY.md",
                        "docs/decisions/0001-record-decisions.md",
                        "docs/observability/prometheus-rules.yml",
                        "carillon-cli/src/main/java/io/carillon/cli/Main.java",
                        "carillon-core/src/main/resources/io/carillon/internal/postgres/migrations/0001_tables.sql",
                        "carillon-server/src/main/resources/io/carillon/server/openapi.json",
                        "carillon-it/src/test/java/io/carillon/it/architecture/BannedWords.java");
    }

    static Stream<Entry> entries() {
        return BANNED.entries().stream();
    }

    @ParameterizedTest
    @MethodSource("entries")
    void each_entry_is_found(Entry entry) throws IOException {
        String source = entry.type()
                ? "\nrecord %s() {}\n".formatted(entry.banned())
                : "\n// Has the %ss.\n".formatted(entry.banned());
        write(MAIN + "Sample.java", source);

        assertThat(BANNED.search(new SourceTree(root)))
                .extracting(Finding::toString)
                .contains("%sSample.java:2: '%s' is banned, use: %s".formatted(MAIN, entry.banned(), entry.instead()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a big stone",
                "BigStones big = null;",
                "bigStone()",
                "var oldBigStone = 1;",
                "BIG_STONE",
                "big-stones",
                " * the big\n     * stone",
                "-- the big\n-- stone",
                "HTTPBigStone",
            })
    void a_phrase_is_found_in_every_spelling(String text) throws IOException {
        write("docs/page.md", text);

        assertThat(phrase().search(new SourceTree(root)))
                .singleElement()
                .asString()
                .startsWith("docs/page.md:1: 'big stone' is banned, use: rock");
    }

    @ParameterizedTest
    @ValueSource(strings = {"It is big. Stone is hard.", "bigger stone", "stone", "bigstone", "big(stone)"})
    void other_words_are_not_found(String text) throws IOException {
        write("docs/page.md", text);

        assertThat(phrase().search(new SourceTree(root))).isEmpty();
    }

    @Test
    void a_banned_name_of_a_type_may_be_another_word() throws IOException {
        BannedWords banned = BannedWords.parse("type Stone = Rock\n");
        write(MAIN + "Good.java", "class Good { Stone stone; /** Class of Stone. */ class Stones {} }");
        assertThat(banned.search(new SourceTree(root))).isEmpty();

        write(MAIN + "Bad.java", "interface Stone {}");
        assertThat(banned.search(new SourceTree(root)))
                .extracting(Finding::toString)
                .containsExactly(MAIN + "Bad.java:1: 'Stone' is banned, use: Rock");
    }

    @Test
    void the_glossary_may_list_a_banned_word_as_one_that_is_not_used() throws IOException {
        write("docs/GLOSSARY.md", "| word | meaning | do not call it |\n|---|---|---|\n| rock | Hard. | big stone |\n");
        assertThat(phrase().search(new SourceTree(root))).isEmpty();

        write("docs/GLOSSARY.md", "| word | meaning | do not call it |\n|---|---|---|\n| rock | A big stone. | |\n");
        assertThat(phrase().search(new SourceTree(root))).hasSize(1);
    }

    @Test
    void a_line_without_a_word_to_use_instead_is_refused() {
        assertThatThrownBy(() -> BannedWords.parse("# Hard things\n\nstone =\n"))
                .hasMessage("a line must be 'banned = use instead' (was 'stone =')");
    }

    private static BannedWords phrase() {
        return BannedWords.parse("big stone = rock");
    }

    private void write(String path, String text) throws IOException {
        Files.createDirectories(root.resolve("one"));
        Files.writeString(root.resolve("one/pom.xml"), "<project/>");
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
