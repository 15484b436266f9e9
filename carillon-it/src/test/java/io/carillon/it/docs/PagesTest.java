package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.architecture.PackageRule;
import io.carillon.it.architecture.SourceTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Links, commands, and the packages, classes and SQL functions in the documentation match the project. */
class PagesTest {

    private static final Pattern LINK = Pattern.compile("\\[[^]]+]\\(([^)#\\s]+)[^)]*\\)");
    private static final Pattern DECISION = Pattern.compile("(\\d{4})-[a-z0-9-]+\\.md");
    private static final Pattern PACKAGE_ROW = Pattern.compile("(?m)^\\| `?([A-Za-z. ]+?)`? \\| [^|]+ \\| [^|]+ \\|$");
    private static final Pattern CLASS_NAME = Pattern.compile("`([A-Z]\\w*[a-z]\\w*)(?:\\.\\w+)*`");
    private static final Pattern SQL_FUNCTION = Pattern.compile("`(carillon\\.\\w+\\()\\)`");

    private static final Path ROOT = SourceTree.here().root();

    @Test
    void every_relative_link_has_a_target() throws IOException {
        Set<String> broken = new TreeSet<>();
        for (Path page : pages()) {
            LINK.matcher(SourceTree.read(page))
                    .results()
                    .map(found -> found.group(1))
                    .filter(target -> !target.contains("://"))
                    .filter(target -> !Files.exists(page.resolveSibling(target)))
                    .forEach(target -> broken.add(ROOT.relativize(page) + " -> " + target));
        }

        assertThat(broken).isEmpty();
    }

    @Test
    void ci_runs_the_test_command_of_the_readme_and_installs_nothing() {
        List<String> readme = SourceTree.read(ROOT.resolve("README.md")).lines().toList();
        List<String> maven = SourceTree.read(ROOT.resolve(".ci/run"))
                .lines()
                .filter(line -> line.startsWith("mvn "))
                .toList();

        assertThat(maven).containsExactly("mvn -B verify");
        assertThat(readme).containsAll(maven);
    }

    @Test
    void the_commands_of_the_readme_can_be_run() {
        assertThat(ROOT.resolve("carillon")).isExecutable();
        assertThat(ROOT.resolve(".ci/run")).isExecutable();
    }

    @Test
    void decisions_are_numbered_without_gaps_and_listed_on_the_first_page() throws IOException {
        Path folder = ROOT.resolve("docs/decisions");
        List<String> names = names(folder);
        String first = SourceTree.read(folder.resolve(names.get(0)));

        for (int i = 0; i < names.size(); i++) {
            assertThat(names.get(i)).matches(DECISION).startsWith("%04d-".formatted(i + 1));
            assertThat(i == 0 || first.contains("(" + names.get(i) + ")"))
                    .as("%s is listed on %s", names.get(i), names.get(0))
                    .isTrue();
        }
    }

    @Test
    void the_architecture_page_lists_every_package_in_the_order_of_the_plan() {
        String packages = architecturePage().split("(?m)^## Packages$", 2)[1].split("(?m)^## ", 2)[0];
        List<String> shown = PACKAGE_ROW
                .matcher(packages)
                .results()
                .map(found -> found.group(1))
                .filter(name -> !name.equals("package"))
                .toList();

        assertThat(shown)
                .containsExactlyElementsOf(PackageRule.PLAN.stream()
                        .map(rule -> rule.name().replace("the ", ""))
                        .toList());
    }

    @Test
    void the_architecture_page_names_existing_classes_and_sql_functions() {
        SourceTree tree = SourceTree.here();
        Set<String> missing = new TreeSet<>();
        CLASS_NAME
                .matcher(architecturePage())
                .results()
                .map(found -> found.group(1))
                .forEach(missing::add);
        Stream.concat(tree.mainJava().stream(), tree.testJava().stream())
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .forEach(missing::remove);
        String migrations = SourceTree.files(ROOT.resolve("carillon-core/src/main/resources"), ".sql").stream()
                .map(SourceTree::read)
                .collect(Collectors.joining());
        SQL_FUNCTION
                .matcher(architecturePage())
                .results()
                .map(found -> found.group(1))
                .filter(function -> !migrations.contains("FUNCTION " + function))
                .forEach(missing::add);

        assertThat(missing).isEmpty();
    }

    private static String architecturePage() {
        return SourceTree.read(ROOT.resolve("docs/ARCHITECTURE.md"));
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> top = Files.list(ROOT)) {
            return Stream.concat(
                            top.filter(file -> file.toString().endsWith(".md")),
                            SourceTree.files(ROOT.resolve("docs"), ".md").stream())
                    .toList();
        }
    }

    private static List<String> names(Path folder) {
        return SourceTree.files(folder, ".md").stream()
                .map(file -> file.getFileName().toString())
                .toList();
    }
}
