package io.carillon.bench;

import ch.qos.logback.classic.Level;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;

/** The entry point of {@code carillon bench}. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        // After Ctrl-C the server stops first; the nodes then log failures that are of no interest.
        Runtime.getRuntime().addShutdownHook(new Thread(Main::silenceLogging));
        System.exit(new CommandLine(new BenchCommand())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler(new ExceptionReporter())
                .execute(args));
    }

    private static void silenceLogging() {
        if (LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME) instanceof ch.qos.logback.classic.Logger root)
            root.setLevel(Level.OFF);
    }
}
