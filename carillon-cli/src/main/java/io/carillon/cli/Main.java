package io.carillon.cli;

import io.carillon.cli.client.HttpThreads;
import io.carillon.cli.remote.RemoteCommands;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Program;
import io.carillon.cli.shell.Shell;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import picocli.CommandLine;

/**
 * The entry point of the {@code carillon} command: parses the arguments, runs the subcommand and exits with its code.
 */
public final class Main {
    /** Commands that need all others. */
    private static final Set<String> ABOUT_ALL = Set.of("help", "completion");

    private static final int MAX_OPTIONS_IN_SYNOPSIS = 6;

    private Main() {}

    public static void main(String[] args) throws InterruptedException {
        Shell shell = Shell.real();
        int code = run(shell, args);
        if (code == ExitCode.OK) CompletionHint.show(shell, args);
        HttpThreads.stop();
        System.exit(code);
    }

    /** Runs the command and returns its exit code, without ending the JVM. */
    public static int run(Shell shell, String... args) {
        String first = args.length == 0 || ABOUT_ALL.contains(args[0]) ? "" : args[0];
        Map<String, Function<Shell, Object>> commands = commands();
        // Reading the annotations of all commands takes longer than most commands do.
        if (commands.containsKey(first)) commands.keySet().removeIf(name -> !name.equals(first));
        return command(shell, commands).execute(CronCommand.quoteLeadingHyphen(args));
    }

    /** A usage line with very many options is longer than the description of what the command does. */
    private static void shortenSynopsis(CommandLine command) {
        if (command.getCommandSpec().options().size() > MAX_OPTIONS_IN_SYNOPSIS)
            command.getCommandSpec().usageMessage().abbreviateSynopsis(true);
        command.getSubcommands().values().forEach(Main::shortenSynopsis);
    }

    /** Returns the command with all its subcommands. */
    static CommandLine command(Shell shell) {
        return command(shell, commands());
    }

    /** Returns the subcommands in the order of the help. */
    private static Map<String, Function<Shell, Object>> commands() {
        Map<String, Function<Shell, Object>> commands = new LinkedHashMap<>();
        commands.put("dev", DevCommand::new);
        commands.put("serve", ServeCommand::new);
        commands.put("config", ConfigCommand::commandLine);
        commands.put("cron", CronCommand::new);
        commands.put("migrate", MigrateCommand::new);
        commands.putAll(RemoteCommands.all());
        commands.put("completion", CompletionCommand::new);
        commands.put("help", HelpCommand::new);
        return commands;
    }

    private static CommandLine command(Shell shell, Map<String, Function<Shell, Object>> commands) {
        CommandLine command = new CommandLine(new RootCommand(shell));
        command.setCommandName(Program.name());
        commands.forEach((name, subcommand) -> command.addSubcommand(name, subcommand.apply(shell)));
        shortenSynopsis(command);
        ExceptionReporter exceptionReporter = new ExceptionReporter(shell.err());
        return command.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF))
                .setOut(shell.out())
                .setErr(shell.err())
                // "@daily" is a cron expression, not an argument file.
                .setExpandAtFiles(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(exceptionReporter)
                .setExecutionExceptionHandler(exceptionReporter);
    }
}
