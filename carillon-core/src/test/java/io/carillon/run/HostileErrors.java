package io.carillon.run;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.List;

/** Exceptions whose methods throw or return invalid values. */
public final class HostileErrors {
    private HostileErrors() {}

    public static List<Throwable> all() {
        Exception ring = new Exception("one");
        ring.initCause(new Exception("two", ring));
        Throwable deep = new Exception("root");
        for (int i = 0; i < 5_000; i++) deep = new Exception("level " + i, deep);
        return List.of(
                throwing(new IllegalStateException("no message for you")),
                throwing(new StackOverflowError()),
                throwing(new OutOfMemoryError("pretended")),
                throwing(new AssertionError("assert in getMessage")),
                throwing(new NoClassDefFoundError("gone/Class")),
                throwing(new InterruptedException("checked, thrown sneakily")),
                new ThrowingCause(),
                new ThrowingPrint(),
                new NullToString(),
                new Exception("nul \0 and half a pair \uD800"),
                new Exception("x".repeat(1024 * 1024)),
                new Exception((String) null),
                ring,
                deep);
    }

    private static Throwable throwing(Throwable instead) {
        return new ThrowingMessage(instead);
    }

    private static final class ThrowingMessage extends Exception {
        private static final long serialVersionUID = 1L;
        private final Throwable instead;

        ThrowingMessage(Throwable instead) {
            this.instead = instead;
        }

        @Override
        public String getMessage() {
            throw HostileErrors.<RuntimeException>sneaky(instead);
        }
    }

    private static final class ThrowingCause extends Exception {
        private static final long serialVersionUID = 1L;

        @Override
        public synchronized Throwable getCause() {
            throw new IllegalStateException("no cause for you");
        }
    }

    private static final class ThrowingPrint extends Exception {
        private static final long serialVersionUID = 1L;

        @Override
        public void printStackTrace(PrintStream out) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void printStackTrace(PrintWriter out) {
            throw new UnsupportedOperationException();
        }
    }

    @SuppressWarnings({"OverrideThrowableToString", "ToStringReturnsNull"}) // intentional
    private static final class NullToString extends Exception {
        private static final long serialVersionUID = 1L;

        @Override
        public String toString() {
            return null;
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E sneaky(Throwable error) throws E {
        throw (E) error;
    }
}
