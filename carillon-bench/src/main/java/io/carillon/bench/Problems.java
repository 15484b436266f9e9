package io.carillon.bench;

import io.carillon.bench.measure.MeasureException;
import io.carillon.embedded.EmbeddedPostgresException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** Turns what went wrong into a message; a stack is shown only for what nobody foresaw. */
final class Problems implements CommandLine.IExecutionExceptionHandler {
    @Override
    public int handleExecutionException(Exception problem, CommandLine command, ParseResult parsed) {
        PrintWriter err = command.getErr();
        boolean foreseen = problem instanceof MeasureException
                || problem instanceof EmbeddedPostgresException
                || problem instanceof IllegalArgumentException;
        err.println("carillon: " + (foreseen ? problem.getMessage() : "This should not have happened: " + problem));
        if (!foreseen || problem.getCause() != null) problem.printStackTrace(err);
        return problem instanceof IllegalArgumentException ? 2 : 1;
    }
}
