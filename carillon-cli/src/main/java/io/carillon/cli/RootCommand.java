package io.carillon.cli;

import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code carillon} without a subcommand: prints the help. */
@Command(
        name = "carillon",
        description = "A distributed scheduler on PostgreSQL.",
        synopsisSubcommandLabel = "COMMAND",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        footer = {
            "",
            "Try it:      ${ROOT-COMMAND-NAME} dev",
            "Explain:     ${ROOT-COMMAND-NAME} cron \"0 2 * * *\" --zone Europe/Paris",
            "Create:      ${ROOT-COMMAND-NAME} schedule create hello --every 10s --handler demo.hello",
            "Check:       ${ROOT-COMMAND-NAME} doctor",
            "Measure:     ${ROOT-COMMAND-NAME} bench (in a checkout)",
            "Complete:    source <(${ROOT-COMMAND-NAME} completion bash)",
            "",
            "Exit codes: 0 success, 1 failure, 2 invalid command line, 3 not found,",
            "4 not authorized, 5 conflict, 6 timeout, 7 server unavailable,",
            "8 partly done, 10 the awaited run did not succeed.",
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
