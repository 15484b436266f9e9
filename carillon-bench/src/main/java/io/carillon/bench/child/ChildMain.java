package io.carillon.bench.child;

import io.carillon.bench.server.BenchDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The other process: reads commands from its standard input until that closes, and answers each with one line. */
public final class ChildMain {
    private ChildMain() {}

    /** One role: answers a command. */
    interface Player extends AutoCloseable {
        String answer(String command, List<String> words) throws Exception;

        @Override
        void close();
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Player player = player(Role.valueOf(arguments[0]))) {
            serve(in, out, player);
        }
        // Threads of a pool that did not end in time must not keep an orphan alive.
        System.exit(0);
    }

    private static void serve(BufferedReader in, PrintStream out, Player player) throws Exception {
        for (String line = read(in); line != null; line = read(in)) {
            List<String> words = List.of(line.split("\t", -1));
            out.println(player.answer(words.get(0), words.subList(1, words.size())));
        }
    }

    private static @org.jspecify.annotations.Nullable String read(BufferedReader in) {
        try {
            return in.readLine();
        } catch (IOException closed) {
            return null;
        }
    }

    private static Player player(Role role) {
        if (role == Role.NODE) return new NodePlayer();
        if (role == Role.ENQUEUER) return new EnqueuerPlayer();
        if (role == Role.HOLDER) return new HolderPlayer();
        throw new IllegalArgumentException("No player for " + role);
    }

    static BenchDatabase.Address address(List<String> words) {
        return new BenchDatabase.Address(words.get(0), words.get(1), words.get(2));
    }
}
