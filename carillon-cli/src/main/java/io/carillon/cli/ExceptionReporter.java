package io.carillon.cli;

import io.carillon.CarillonException;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Program;
import io.carillon.cli.shell.UsageException;
import io.carillon.embedded.EmbeddedPostgresException;
import io.carillon.internal.value.SpellingSuggester;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Converts an exception to a message and an exit code. Prints a stack trace only for unexpected exceptions. */
final class ExceptionReporter implements IParameterExceptionHandler, IExecutionExceptionHandler {
    private final PrintWriter err;

    ExceptionReporter(PrintWriter err) {
        this.err = err;
    }

    @Override
    public int handleParseException(ParameterException problem, String[] args) {
        CommandLine command = problem.getCommandLine();
        print(
                problem instanceof UnmatchedArgumentException unmatched
                        ? unknownArgument(unmatched, command)
                        : sentence(problem) + suggestion(problem));
        print("See '%s --help'.".formatted(command.getCommandSpec().qualifiedName()));
        return ExitCode.USAGE;
    }

    @Override
    public int handleExecutionException(Exception problem, CommandLine command, ParseResult parsed) {
        if (problem instanceof UsageException) {
            print(sentence(problem));
            return ExitCode.USAGE;
        }
        if (problem instanceof CommandException commandException) {
            print(sentence(problem));
            return commandException.exitCode();
        }
        if (problem instanceof CarillonException || problem instanceof EmbeddedPostgresException) {
            print(sentence(problem));
        } else {
            print("Unexpected error: " + problem);
            problem.printStackTrace(err);
        }
        return ExitCode.FAILED;
    }

    private static String unknownArgument(UnmatchedArgumentException problem, CommandLine command) {
        String word = problem.getUnmatched().get(0);
        if (word.startsWith("-")) {
            List<String> options = new ArrayList<>();
            for (OptionSpec option : command.getCommandSpec().options()) options.addAll(List.of(option.names()));
            String typed = word.contains("=") ? word.substring(0, word.indexOf('=')) : word;
            return "Unknown option '%s'.%s".formatted(typed, SpellingSuggester.didYouMean(typed, options));
        }
        if (command.getSubcommands().isEmpty()) return "Unexpected argument '%s'.".formatted(word);
        return "Unknown command '%s'.%s"
                .formatted(
                        word,
                        SpellingSuggester.didYouMean(
                                word, command.getSubcommands().keySet()));
    }

    /** Returns a spelling suggestion if the option allows only certain words; otherwise empty. */
    private static String suggestion(ParameterException problem) {
        ArgSpec wanted = problem.getArgSpec();
        String said = problem.getValue();
        Object[] words = wanted == null ? null : wanted.type().getEnumConstants();
        if (words == null || said == null) return "";
        return SpellingSuggester.didYouMean(
                said,
                Arrays.stream(words)
                        .map(word -> word.toString().toLowerCase(Locale.ROOT))
                        .toList());
    }

    private static String sentence(Exception problem) {
        String message = problem.getMessage();
        if (message == null) return problem.toString();
        return problem instanceof ParameterException
                ? message.replace(" is not an int", " is not a whole number")
                        .replace(" is not a double", " is not a number")
                : message;
    }

    private void print(String message) {
        String text = Program.inText(message);
        err.println(text.startsWith("See ") ? text : "carillon: " + text);
    }
}
