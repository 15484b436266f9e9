package io.carillon.cli;

import io.carillon.cli.remote.RemoteCommands;
import io.carillon.cli.shell.Shell;
import picocli.CommandLine;

/** The entry point of the {@code carillon} command: reads the words, runs the subcommand and answers with its exit code. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        System.exit(run(Shell.real(), args));
    }

    /** The whole command but the end of the JVM. */
    public static int run(Shell shell, String... args) {
        return command(shell).execute(CronCommand.words(args));
    }

    static CommandLine command(Shell shell) {
        CommandLine command = new CommandLine(new RootCommand(shell))
                .addSubcommand(new DevCommand(shell))
                .addSubcommand(new ServeCommand(shell))
                .addSubcommand(ConfigCommand.on(shell))
                .addSubcommand(new CronCommand(shell))
                .addSubcommand(new MigrateCommand(shell));
        RemoteCommands.all(shell).forEach(command::addSubcommand);
        command.addSubcommand(new CompletionCommand(shell));
        Problems problems = new Problems(shell.err());
        return command.setOut(shell.out())
                .setErr(shell.err())
                // "@daily" is an expression, not a file of arguments.
                .setExpandAtFiles(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(problems)
                .setExecutionExceptionHandler(problems);
    }
}
