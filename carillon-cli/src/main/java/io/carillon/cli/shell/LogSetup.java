package io.carillon.cli.shell;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.encoder.EncoderBase;
import ch.qos.logback.core.rolling.FixedWindowRollingPolicy;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy;
import ch.qos.logback.core.util.FileSize;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/**
 * Configures where log events go. The setup is done in code: a configuration file on the class path would also apply to
 * applications that use this jar in tests.
 */
public final class LogSetup {
    private static final String PATTERN = "%d{yyyy-MM-dd'T'HH:mm:ss.SSS'Z',UTC} %-5level [%thread] %logger{20} %msg%n";
    private static final String MAX_FILE_SIZE = "10MB";
    private static final int OLDER_FILES = 2;

    private LogSetup() {}

    /** Prints warnings and errors as plain lines and discards all other events. */
    public static void warningsTo(PrintWriter err) {
        LoggerContext context = resetContext();
        if (context != null)
            root(context).addAppender(warningAppender(context, warning -> err.println("carillon: " + warning)));
    }

    /** Prints all events from level INFO, as text or as one JSON object per line. */
    public static void linesTo(PrintWriter err, boolean json) {
        LoggerContext context = resetContext();
        if (context == null) return;
        EncoderBase<ILoggingEvent> encoder = json ? new JsonLogEncoder() : lines(context);
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                err.print(new String(encoder.encode(event), StandardCharsets.UTF_8));
                err.flush();
            }
        };
        appender.setContext(context);
        appender.start();
        root(context).addAppender(appender);
    }

    /**
     * Writes all events from level INFO to a file that is rolled over by size. Passes warnings and errors also to
     * {@code warnings}.
     */
    public static void toFile(Path file, Consumer<String> warnings) {
        LoggerContext context = resetContext();
        if (context == null) return;
        root(context).addAppender(file(context, file));
        root(context).addAppender(warningAppender(context, warnings));
    }

    /** Returns null if another logging system is installed. Its own configuration then applies. */
    private static @Nullable LoggerContext resetContext() {
        ILoggerFactory factory = LoggerFactory.getILoggerFactory();
        if (!(factory instanceof LoggerContext context)) return null;
        context.reset();
        root(context).setLevel(Level.INFO);
        return context;
    }

    private static Logger root(LoggerContext context) {
        return context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }

    private static EscapingEncoder lines(LoggerContext context) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern(PATTERN);
        encoder.setCharset(StandardCharsets.UTF_8);
        encoder.start();
        EscapingEncoder escaping = new EscapingEncoder(encoder);
        escaping.setContext(context);
        escaping.start();
        return escaping;
    }

    private static RollingFileAppender<ILoggingEvent> file(LoggerContext context, Path file) {
        RollingFileAppender<ILoggingEvent> appender = new RollingFileAppender<>();
        appender.setContext(context);
        appender.setFile(file.toString());
        appender.setEncoder(lines(context));

        FixedWindowRollingPolicy rolling = new FixedWindowRollingPolicy();
        rolling.setContext(context);
        rolling.setParent(appender);
        rolling.setMinIndex(1);
        rolling.setMaxIndex(OLDER_FILES);
        rolling.setFileNamePattern(file + ".%i");
        rolling.start();
        appender.setRollingPolicy(rolling);

        SizeBasedTriggeringPolicy<ILoggingEvent> size = new SizeBasedTriggeringPolicy<>();
        size.setContext(context);
        size.setMaxFileSize(FileSize.valueOf(MAX_FILE_SIZE));
        size.start();
        appender.setTriggeringPolicy(size);
        appender.start();
        return appender;
    }

    private static AppenderBase<ILoggingEvent> warningAppender(LoggerContext context, Consumer<String> warnings) {
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                // Failures of the connection pool are also thrown as exceptions, with a better message.
                boolean ours = !event.getLoggerName().startsWith("com.zaxxer.hikari");
                if (ours && event.getLevel().isGreaterOrEqual(Level.WARN))
                    warnings.accept(event.getLevel() + " " + new EscapedEvent(event).getFormattedMessage());
            }
        };
        appender.setContext(context);
        appender.start();
        return appender;
    }
}
