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

/** Decides where log events go. Set up in code: a file on the class path would also speak for those who use this jar in tests. */
public final class Logs {
    private static final String PATTERN = "%d{yyyy-MM-dd'T'HH:mm:ss.SSS'Z',UTC} %-5level [%thread] %logger{20} %msg%n";
    private static final String LARGEST = "10MB";
    private static final int OLDER_FILES = 2;

    private Logs() {}

    /** Warnings and errors as plain lines; nothing else, nowhere else. */
    public static void warningsTo(PrintWriter err) {
        LoggerContext context = fresh();
        if (context != null) root(context).addAppender(tap(context, warning -> err.println("carillon: " + warning)));
    }

    /** All from INFO on as lines: for people, or one JSON object each. */
    public static void linesTo(PrintWriter err, boolean json) {
        LoggerContext context = fresh();
        if (context == null) return;
        EncoderBase<ILoggingEvent> encoder = json ? new JsonLines() : pattern(context);
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

    /** All from INFO on to a file that is rolled over by size; warnings and errors also to whoever asks for them. */
    public static void to(Path file, Consumer<String> warnings) {
        LoggerContext context = fresh();
        if (context == null) return;
        root(context).addAppender(file(context, file));
        root(context).addAppender(tap(context, warnings));
    }

    /** Null where another logging system was put in: its owner decides. */
    private static @Nullable LoggerContext fresh() {
        ILoggerFactory factory = LoggerFactory.getILoggerFactory();
        if (!(factory instanceof LoggerContext context)) return null;
        context.reset();
        root(context).setLevel(Level.INFO);
        return context;
    }

    private static Logger root(LoggerContext context) {
        return context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }

    private static PatternLayoutEncoder pattern(LoggerContext context) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern(PATTERN);
        encoder.setCharset(StandardCharsets.UTF_8);
        encoder.start();
        return encoder;
    }

    private static RollingFileAppender<ILoggingEvent> file(LoggerContext context, Path file) {
        RollingFileAppender<ILoggingEvent> appender = new RollingFileAppender<>();
        appender.setContext(context);
        appender.setFile(file.toString());
        appender.setEncoder(pattern(context));

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
        size.setMaxFileSize(FileSize.valueOf(LARGEST));
        size.start();
        appender.setTriggeringPolicy(size);
        appender.start();
        return appender;
    }

    private static AppenderBase<ILoggingEvent> tap(LoggerContext context, Consumer<String> warnings) {
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                // What the pool complains about comes back as an exception, with better words.
                boolean ours = !event.getLoggerName().startsWith("com.zaxxer.hikari");
                if (ours && event.getLevel().isGreaterOrEqual(Level.WARN))
                    warnings.accept(event.getLevel() + " " + event.getFormattedMessage());
            }
        };
        appender.setContext(context);
        appender.start();
        return appender;
    }
}
