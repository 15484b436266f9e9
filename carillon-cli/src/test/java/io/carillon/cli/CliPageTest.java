package io.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What docs/cli.md shows is what the command says, and what the command offers is on the page. */
class CliPageTest {
    private static final Pattern EXAMPLE =
            Pattern.compile("(?m)^```console\\n\\$ \\./carillon (cron [^\\n]*)\\n(.*?)^```$", Pattern.DOTALL);
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(\\S+)");
    private static final Pattern OPTION = Pattern.compile("(?m)^ +(?:(-\\w), )?(--[a-z-]+)");

    private static String page;

    @BeforeAll
    static void read() throws IOException {
        page = Files.readString(Path.of("../docs/cli.md"));
    }

    @Test
    void every_example_of_cron_says_just_that() {
        List<MatchResult> examples = EXAMPLE.matcher(page).results().toList();

        assertThat(examples).hasSizeGreaterThanOrEqualTo(3);
        for (MatchResult example : examples) {
            Called called = Called.carillon(words(example.group(1)));
            assertThat(called.out() + called.err()).as(example.group(1)).isEqualTo(example.group(2));
        }
    }

    @Test
    void every_command_and_option_is_on_the_page() {
        List<String> missing = new ArrayList<>();
        for (String command : List.of("dev", "serve", "cron", "migrate")) {
            int start = page.indexOf("\n## " + command + "\n");
            int end = page.indexOf("\n## ", start + 1);
            String section = start < 0 ? "" : page.substring(start, end < 0 ? page.length() : end);
            OPTION.matcher(Called.carillon(command, "--help").out())
                    .results()
                    .map(option -> option.group(2))
                    .filter(option -> !List.of("--help", "--version").contains(option))
                    .filter(option -> !section.contains(option + " ") && !section.contains(option + "`"))
                    .forEach(option -> missing.add(command + " " + option));
        }

        assertThat(missing).isEmpty();
    }

    @Test
    void every_exit_code_is_on_the_page() {
        assertThat(page)
                .contains("| " + ExitCode.OK + " |", "| " + ExitCode.FAILED + " |", "| " + ExitCode.USAGE + " |");
    }

    private static String[] words(String line) {
        return WORD.matcher(line)
                .results()
                .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
                .toArray(String[]::new);
    }
}
