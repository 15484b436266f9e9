package io.carillon.internal.value;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Suggests the known word that differs from a mistyped word by the fewest edits. */
public final class SpellingSuggester {
    private SpellingSuggester() {}

    /** Returns the known word nearest to a mistyped one, or empty if none is near. */
    public static Optional<String> findNearest(String typed, Collection<String> known) {
        int allowed = Math.max(1, Math.min(3, typed.length() / 3));
        return known.stream()
                .filter(word -> Math.abs(word.length() - typed.length()) <= allowed)
                .map(word -> new WordDistance(word, edits(lower(typed), lower(word))))
                .filter(wordDistance -> wordDistance.edits <= allowed)
                .min(Comparator.comparingInt(WordDistance::edits).thenComparing(WordDistance::word))
                .map(WordDistance::word);
    }

    /** Returns the end of an error message, such as " Did you mean 'dev'?", or an empty string. */
    public static String didYouMean(String typed, Collection<String> known) {
        return findNearest(typed, known)
                .map(word -> " Did you mean '" + word + "'?")
                .orElse("");
    }

    private record WordDistance(String word, int edits) {}

    private static String lower(String text) {
        return text.toLowerCase(Locale.ROOT);
    }

    /** Returns the number of insertions, deletions, replacements and swaps of adjacent characters. */
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
