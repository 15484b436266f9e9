package io.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.cli.config.Setting;
import io.carillon.cli.shell.ExitCode;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The examples in docs/cli.md match the output of the command, and all commands and options are documented there. */
class CliPageTest {
    private static final Pattern EXAMPLE =
            Pattern.compile("(?m)^```console\\n\\$ \\./carillon (cron [^\\n]*)\\n(.*?)^```$", Pattern.DOTALL);
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(\\S+)");

    private static String page;

    @BeforeAll
    static void read() throws IOException {
        page = Files.readString(Path.of("../docs/cli.md"));
    }

    @Test
    void every_cron_example_matches_the_output() {
        List<MatchResult> examples = EXAMPLE.matcher(page).results().toList();

        assertThat(examples).hasSizeGreaterThanOrEqualTo(3);
        for (MatchResult example : examples) {
            CommandResult commandResult = CommandResult.run(words(example.group(1)));
            assertThat(commandResult.out() + commandResult.err())
                    .as(example.group(1))
                    .isEqualTo(example.group(2));
        }
    }

    @Test
    void every_command_and_option_is_on_the_page() {
        List<String> missing = new ArrayList<>();
        CommandLine carillon = Main.command(CommandResult.silentShell());
        carillon.getSubcommands().forEach((name, command) -> {
            String section = section(name);
            if (section.isEmpty()) missing.add(name);
            command.getSubcommands().forEach((verb, inner) -> {
                if (!section.contains("`" + verb)) missing.add(name + " " + verb);
                missing.addAll(undocumentedOptions(name + " " + verb, inner, section));
            });
            missing.addAll(undocumentedOptions(name, command, section));
        });

        assertThat(missing).isEmpty();
    }

    @Test
    void the_table_at_the_top_names_every_command() {
        String table = page.substring(0, page.indexOf("\n## "));

        assertThat(Main.command(CommandResult.silentShell()).getSubcommands().keySet())
                .allSatisfy(command -> assertThat(table).contains("\n| [`" + command + "`](#" + command + ") |"));
    }

    private static String section(String command) {
        int start = page.indexOf("\n## " + command + "\n");
        int end = page.indexOf("\n## ", start + 1);
        return start < 0 ? "" : page.substring(start, end < 0 ? page.length() : end);
    }

    /**
     * Returns the options that are neither in the section of the command nor in the shared section of
     * all client commands.
     */
    private static List<String> undocumentedOptions(String name, CommandLine command, String section) {
        String shared = section("Connecting to a server");
        return command.getCommandSpec().options().stream()
                .map(OptionSpec::longestName)
                .filter(option -> !List.of("--help", "--version").contains(option))
                .filter(option -> !names(section, option) && !names(shared, option))
                .map(option -> name + " " + option)
                .toList();
    }

    private static boolean names(String section, String option) {
        return section.contains(option + " ") || section.contains(option + "`");
    }

    @Test
    void every_exit_code_is_on_the_page() throws IllegalAccessException {
        for (Field code : ExitCode.class.getFields())
            assertThat(page).as(code.getName()).contains("\n| " + code.getInt(null) + " |");
    }

    @Test
    void every_setting_is_on_the_page_of_settings() throws IOException {
        String settings = Files.readString(Path.of("../docs/configuration.md"));

        for (Setting setting : Setting.values())
            assertThat(settings)
                    .contains("| `%s` | `%s` | `%s` |".formatted(setting.key(), setting.flag(), setting.variable()));
    }

    private static String[] words(String line) {
        return WORD.matcher(line)
                .results()
                .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
                .toArray(String[]::new);
    }
}
