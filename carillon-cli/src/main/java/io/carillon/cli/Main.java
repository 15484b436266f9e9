package io.carillon.cli;

import io.carillon.cli.remote.RemoteCommands;
import io.carillon.cli.shell.Shell;
import picocli.CommandLine;

/**
 * The entry point of the {@code carillon} command: parses the arguments, runs the subcommand and exits with its code.
 */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        System.exit(run(Shell.real(), args));
    }

    /** Runs the command and returns its exit code, without ending the JVM. */
    public static int run(Shell shell, String... args) {
        return command(shell).execute(CronCommand.quoteLeadingHyphen(args));
    }

    static CommandLine command(Shell shell) {
        CommandLine command = new CommandLine(new RootCommand(shell))
                .addSubcommand(new DevCommand(shell))
                .addSubcommand(new ServeCommand(shell))
                .addSubcommand(ConfigCommand.commandLine(shell))
                .addSubcommand(new CronCommand(shell))
                .addSubcommand(new MigrateCommand(shell));
        RemoteCommands.all(shell).forEach(command::addSubcommand);
        command.addSubcommand(new CompletionCommand(shell));
        ExceptionReporter exceptionReporter = new ExceptionReporter(shell.err());
        return command.setOut(shell.out())
                .setErr(shell.err())
                // "@daily" is a cron expression, not an argument file.
                .setExpandAtFiles(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(exceptionReporter)
                .setExecutionExceptionHandler(exceptionReporter);
    }
}
