package io.carillon.cli;

import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.internal.value.SpellingSuggester;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code carillon help}: prints the help of a command, as its option {@code --help} does. */
@Command(
        name = "help",
        description = "Show the help of a command.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class HelpCommand implements Callable<Integer> {
    private final Shell shell;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "Command, such as schedule create.")
    private List<String> words = List.of();

    HelpCommand(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        CommandLine command = spec.root().commandLine();
        for (String word : words) {
            CommandLine inner = command.getSubcommands().get(word);
            if (inner == null)
                throw new UsageException("Unknown command '%s'.%s 'carillon help' lists the commands."
                        .formatted(
                                word,
                                SpellingSuggester.didYouMean(
                                        word, command.getSubcommands().keySet())));
            command = inner;
        }
        command.usage(shell.out(), CommandLine.Help.Ansi.OFF);
        return ExitCode.OK;
    }
}
