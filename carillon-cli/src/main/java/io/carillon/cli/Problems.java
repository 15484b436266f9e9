package io.carillon.cli;

import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Failure;
import io.carillon.cli.shell.UsageException;
import io.carillon.embedded.EmbeddedPostgresException;
import io.carillon.value.CarillonException;
import io.carillon.value.Nearest;
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

/** Turns what went wrong into a message and an exit code. A stack is shown only for what nobody foresaw. */
final class Problems implements IParameterExceptionHandler, IExecutionExceptionHandler {
    private final PrintWriter err;

    Problems(PrintWriter err) {
        this.err = err;
    }

    @Override
    public int handleParseException(ParameterException problem, String[] args) {
        CommandLine command = problem.getCommandLine();
        say(
                problem instanceof UnmatchedArgumentException unmatched
                        ? unknown(unmatched, command)
                        : sentence(problem) + meant(problem));
        say("See '%s --help'.".formatted(command.getCommandSpec().qualifiedName()));
        return ExitCode.USAGE;
    }

    @Override
    public int handleExecutionException(Exception problem, CommandLine command, ParseResult parsed) {
        if (problem instanceof UsageException) {
            say(sentence(problem));
            return ExitCode.USAGE;
        }
        if (problem instanceof Failure failure) {
            say(sentence(problem));
            return failure.exit();
        }
        if (problem instanceof CarillonException || problem instanceof EmbeddedPostgresException) {
            say(sentence(problem));
        } else {
            say("This should not have happened: " + problem);
            problem.printStackTrace(err);
        }
        return ExitCode.FAILED;
    }

    private static String unknown(UnmatchedArgumentException problem, CommandLine command) {
        String word = problem.getUnmatched().get(0);
        if (word.startsWith("-")) {
            List<String> options = new ArrayList<>();
            for (OptionSpec option : command.getCommandSpec().options()) options.addAll(List.of(option.names()));
            String typed = word.contains("=") ? word.substring(0, word.indexOf('=')) : word;
            return "Unknown option '%s'.%s".formatted(typed, Nearest.hint(typed, options));
        }
        if (command.getSubcommands().isEmpty()) return "Nothing is known to do with '%s' here.".formatted(word);
        return "Unknown command '%s'.%s"
                .formatted(word, Nearest.hint(word, command.getSubcommands().keySet()));
    }

    /** Where one of a few words was wanted. */
    private static String meant(ParameterException problem) {
        ArgSpec wanted = problem.getArgSpec();
        String said = problem.getValue();
        Object[] words = wanted == null ? null : wanted.type().getEnumConstants();
        if (words == null || said == null) return "";
        return Nearest.hint(
                said,
                Arrays.stream(words)
                        .map(word -> word.toString().toLowerCase(Locale.ROOT))
                        .toList());
    }

    private static String sentence(Exception problem) {
        String message = problem.getMessage();
        return message == null ? problem.toString() : message;
    }

    private void say(String message) {
        err.println(message.startsWith("See ") ? message : "carillon: " + message);
    }
}
