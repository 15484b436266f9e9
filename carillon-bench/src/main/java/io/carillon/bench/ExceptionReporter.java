package io.carillon.bench;

import io.carillon.bench.measure.MeasureException;
import io.carillon.embedded.EmbeddedPostgresException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/**
 * Prints the message of an exception. Prints a stack trace for unexpected exceptions and for exceptions with a cause.
 */
final class ExceptionReporter implements CommandLine.IExecutionExceptionHandler {
    @Override
    public int handleExecutionException(Exception problem, CommandLine command, ParseResult parsed) {
        PrintWriter err = command.getErr();
        boolean expected = problem instanceof MeasureException
                || problem instanceof EmbeddedPostgresException
                || problem instanceof IllegalArgumentException;
        err.println("carillon: " + (expected ? problem.getMessage() : "Unexpected error: " + problem));
        if (!expected || problem.getCause() != null) problem.printStackTrace(err);
        return problem instanceof IllegalArgumentException ? 2 : 1;
    }
}
