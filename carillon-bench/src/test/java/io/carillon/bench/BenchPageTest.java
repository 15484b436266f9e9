package io.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.bench.peer.Peers;
import io.carillon.bench.server.BenchServer;
import io.carillon.bench.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The documentation covers all options, workloads and settings of the benchmark. */
class BenchPageTest {

    @Test
    void every_option_is_on_the_page_of_the_command() throws IOException {
        String page = Files.readString(Path.of("../docs/cli.md"));
        String section = page.substring(page.indexOf("\n## bench\n"));

        assertThat(new CommandLine(new BenchCommand())
                        .getCommandSpec().options().stream()
                                .filter(option -> !option.hidden() && !option.usageHelp() && !option.versionHelp())
                                .map(OptionSpec::longestName))
                .isNotEmpty()
                .allSatisfy(option -> assertThat(section).containsPattern(option + "[ `]"));
        assertThat(section).contains(Workloads.names()).contains(Peers.names());
    }

    @Test
    void every_workload_and_every_setting_is_on_the_page_of_performance() throws IOException {
        String page = Files.readString(Path.of("../docs/performance.md"));

        assertThat(Workloads.names()).allSatisfy(name -> assertThat(page).contains("| `" + name + "` |"));
        assertThat(BenchServer.SETTINGS.keySet())
                .allSatisfy(name -> assertThat(page).contains(settingOf(name)));
    }

    private static String settingOf(String name) {
        return name.equals("shared_preload_libraries") ? "pg_stat_statements" : name;
    }
}
