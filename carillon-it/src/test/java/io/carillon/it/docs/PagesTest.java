package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.walls.Room;
import io.carillon.it.walls.SourceTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the pages say about files, commands and rooms is so. */
class PagesTest {

    private static final Pattern LINK = Pattern.compile("\\[[^]]+]\\(([^)#\\s]+)[^)]*\\)");
    private static final Pattern DECISION = Pattern.compile("(\\d{4})-[a-z0-9-]+\\.md");
    private static final Pattern ROOM_ROW = Pattern.compile("(?m)^\\| `?([a-z ]+?)`? \\| [^|]+ \\| [^|]+ \\|$");

    private static final Path ROOT = SourceTree.here().root();

    @Test
    void every_relative_link_leads_somewhere() throws IOException {
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
    void ci_runs_the_test_command_of_the_front_page_and_sets_nothing_up() {
        List<String> readme = SourceTree.read(ROOT.resolve("README.md")).lines().toList();
        List<String> maven = SourceTree.read(ROOT.resolve(".ci/run"))
                .lines()
                .filter(line -> line.startsWith("mvn "))
                .toList();

        assertThat(maven).containsExactly("mvn -B verify");
        assertThat(readme).containsAll(maven);
    }

    @Test
    void the_commands_of_the_front_page_can_be_run() {
        assertThat(ROOT.resolve("carillon")).isExecutable();
        assertThat(ROOT.resolve(".ci/run")).isExecutable();
    }

    @Test
    void decisions_are_numbered_without_gaps_and_listed_on_the_first() throws IOException {
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
    void the_architecture_page_shows_every_room_in_the_order_of_the_plan() {
        List<String> shown = ROOM_ROW.matcher(SourceTree.read(ROOT.resolve("docs/ARCHITECTURE.md")))
                .results()
                .map(found -> found.group(1))
                .filter(name -> !name.equals("room"))
                .toList();

        assertThat(shown)
                .containsExactlyElementsOf(Room.PLAN.stream()
                        .map(room -> room.name().replace("the ", ""))
                        .toList());
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
