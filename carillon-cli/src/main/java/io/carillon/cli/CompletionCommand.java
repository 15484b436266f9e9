package io.carillon.cli;

import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Program;
import io.carillon.cli.shell.Shell;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code carillon completion}: prints a script that completes commands and options in a shell. */
@Command(
        name = "completion",
        description = "Print a script that completes commands and options in bash or zsh.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class CompletionCommand implements Callable<Integer> {
    /** The supported shells. Both accept the same script. */
    enum ShellKind {
        BASH,
        ZSH
    }

    private final Shell shell;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "bash|zsh", description = "Shell that runs the script.")
    private ShellKind kind = ShellKind.BASH;

    CompletionCommand(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        String name = kind.name().toLowerCase(Locale.ROOT);
        shell.out().println("# source <(%s completion %s)".formatted(Program.name(), name));
        shell.out().print(AutoComplete.bash("carillon", spec.root().commandLine()));
        shell.out().flush();
        return ExitCode.OK;
    }
}
