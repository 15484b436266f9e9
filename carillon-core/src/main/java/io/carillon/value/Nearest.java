package io.carillon.value;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds what somebody probably meant: the known word that takes the fewest edits, if these are few. */
public final class Nearest {
    private Nearest() {}

    /** The known word nearest to a mistyped one; empty where none is near. */
    public static Optional<String> to(String typed, Collection<String> known) {
        int allowed = Math.max(1, Math.min(3, typed.length() / 3));
        return known.stream()
                .filter(word -> Math.abs(word.length() - typed.length()) <= allowed)
                .map(word -> new Candidate(word, edits(lower(typed), lower(word))))
                .filter(candidate -> candidate.edits <= allowed)
                .min(Comparator.comparingInt(Candidate::edits).thenComparing(Candidate::word))
                .map(Candidate::word);
    }

    /** The end of a message: " Did you mean 'dev'?", or nothing. */
    public static String hint(String typed, Collection<String> known) {
        return to(typed, known).map(word -> " Did you mean '" + word + "'?").orElse("");
    }

    private record Candidate(String word, int edits) {}

    private static String lower(String text) {
        return text.toLowerCase(Locale.ROOT);
    }

    /** Insertions, deletions, replacements and swaps of neighbours, row by row. */
    private static int edits(String a, String b) {
        int[][] cost = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) cost[i][j] = i + j;
                else cost[i][j] = cheapest(cost, a, b, i, j);
            }
        }
        return cost[a.length()][b.length()];
    }

    private static int cheapest(int[][] cost, String a, String b, int i, int j) {
        int replaced = cost[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        int best = Math.min(replaced, 1 + Math.min(cost[i - 1][j], cost[i][j - 1]));
        boolean swapped = i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
        return swapped ? Math.min(best, cost[i - 2][j - 2] + 1) : best;
    }
}
