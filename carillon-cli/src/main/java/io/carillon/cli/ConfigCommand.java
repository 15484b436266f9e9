package io.carillon.cli;

import io.carillon.cli.answer.Format;
import io.carillon.cli.answer.Printer;
import io.carillon.cli.config.ServerConfig;
import io.carillon.cli.config.ServerFlags;
import io.carillon.cli.config.Setting;
import io.carillon.cli.config.Settings;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code carillon config}: shows the settings of a server and the source of each. */
@Command(
        name = "config",
        description = "Show the settings of '${ROOT-COMMAND-NAME} serve'.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class ConfigCommand implements Callable<Integer> {
    private final Shell shell;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private ConfigCommand(Shell shell) {
        this.shell = shell;
    }

    /** Returns the command with its subcommand. */
    static CommandLine commandLine(Shell shell) {
        return new CommandLine(new ConfigCommand(shell)).addSubcommand(new Print(shell));
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(shell.out());
        return ExitCode.OK;
    }

    /** {@code carillon config print}. */
    @Command(
            name = "print",
            description = "Check all settings and print each with its source. Secrets are hidden.",
            mixinStandardHelpOptions = true,
            sortOptions = false)
    static final class Print implements Callable<Integer> {
        private final Shell shell;

        @Mixin
        private ServerFlags flags = new ServerFlags();

        @Option(
                names = {"-o", "--output"},
                paramLabel = "table|json|yaml|name",
                defaultValue = "table",
                description = "Output format. Default: ${DEFAULT-VALUE}.")
        private Format format = Format.TABLE;

        Print(Shell shell) {
            this.shell = shell;
        }

        @Override
        public Integer call() {
            Settings settings = flags.settings(shell);
            List<JsonNode> rows = new ArrayList<>();
            for (Setting setting : Setting.values())
                rows.add(JsonNodeFactory.instance
                        .objectNode()
                        .put("key", setting.key())
                        .put("value", settings.displayText(setting, shell))
                        .put(
                                "from",
                                settings.get(setting)
                                        .map(Settings.Value::source)
                                        .orElse("default")));
            new Printer(shell, format).printList(rows, "key", List.of("key", "value", "from"));
            // Fails on an invalid setting, as carillon serve would, after the table was printed.
            ServerConfig.of(settings, shell);
            return ExitCode.OK;
        }
    }
}
