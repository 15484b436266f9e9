package io.carillon.internal.jdbc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A statement whose {@code :names} are replaced by question marks once. The same constant always gives the same text,
 * so that the driver prepares it once.
 */
record NamedSql(String text, Map<String, List<Integer>> positions) {
    private static final Map<String, NamedSql> CACHE = new ConcurrentHashMap<>();

    static NamedSql of(String sql) {
        NamedSql known = CACHE.get(sql);
        return known != null ? known : CACHE.computeIfAbsent(sql, NamedSql::parse);
    }

    private static NamedSql parse(String sql) {
        StringBuilder text = new StringBuilder(sql.length());
        Map<String, List<Integer>> positions = new HashMap<>();
        int count = 0;
        boolean quoted = false;
        int i = 0;
        while (i < sql.length()) {
            char c = sql.charAt(i);
            if (c == '\'') quoted = !quoted;
            boolean name = !quoted && c == ':' && i + 1 < sql.length() && Character.isLetter(sql.charAt(i + 1));
            boolean cast = i > 0 && sql.charAt(i - 1) == ':';
            if (name && !cast) {
                int end = i + 1;
                while (end < sql.length() && Character.isLetterOrDigit(sql.charAt(end))) end++;
                positions
                        .computeIfAbsent(sql.substring(i + 1, end), n -> new ArrayList<>())
                        .add(++count);
                text.append('?');
                i = end;
            } else {
                text.append(c);
                i++;
            }
        }
        return new NamedSql(text.toString(), positions);
    }
}
