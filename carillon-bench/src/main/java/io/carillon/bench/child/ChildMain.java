package io.carillon.bench.child;

import io.carillon.bench.server.BenchDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The main class of a child process: reads commands from standard input until it closes, and answers each
 * with one line.
 */
public final class ChildMain {
    private ChildMain() {}

    /** A role of the child process, which answers commands. */
    interface CommandHandler extends AutoCloseable {
        String handle(String command, List<String> words) throws Exception;

        @Override
        void close();
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (CommandHandler handler = handlerFor(Role.valueOf(arguments[0]))) {
            serve(in, out, handler);
        }
        // Pool threads that did not end in time must not keep the process alive.
        System.exit(0);
    }

    private static void serve(BufferedReader in, PrintStream out, CommandHandler handler) throws Exception {
        for (String line = read(in); line != null; line = read(in)) {
            List<String> words = List.of(line.split("\t", -1));
            out.println(handler.handle(words.get(0), words.subList(1, words.size())));
        }
    }

    private static @org.jspecify.annotations.Nullable String read(BufferedReader in) {
        try {
            return in.readLine();
        } catch (IOException closed) {
            return null;
        }
    }

    private static CommandHandler handlerFor(Role role) {
        if (role == Role.NODE) return new NodeChild();
        if (role == Role.ENQUEUER) return new EnqueuerChild();
        if (role == Role.HOLDER) return new HolderChild();
        if (role == Role.HOSTILE) return new HostileChild();
        throw new IllegalArgumentException("Unknown role " + role);
    }

    static BenchDatabase.Address address(List<String> words) {
        return new BenchDatabase.Address(words.get(0), words.get(1), words.get(2));
    }
}
