package io.carillon.cli;

import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code carillon} without a subcommand: its help and its version. */
@Command(
        name = "carillon",
        description = "A distributed scheduler on PostgreSQL.",
        synopsisSubcommandLabel = "COMMAND",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        footer = {
            "",
            "Try it:      carillon dev",
            "Understand:  carillon cron \"0 2 * * *\" --zone Europe/Paris",
            "Use:         carillon schedule create hello --every 10s --handler demo.hello",
            "Look:        carillon doctor",
            "Measure:     carillon bench (in a checkout)",
            "",
            "Exit codes: 0 fine, 1 it did not work, 2 it was not understood,",
            "3 there is no such thing, 4 the key may not, 5 it contradicts what is there,",
            "6 too slow, 7 the server is away, 8 done in part, 10 the awaited run failed.",
        })
final class RootCommand implements Callable<Integer> {
    private final Shell shell;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    RootCommand(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(shell.out(), CommandLine.Help.Ansi.OFF);
        return ExitCode.OK;
    }
}
