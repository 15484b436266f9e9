package io.carillon.internal.postgres.migration;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A script that is split at its semicolons, because statements sent together would share one transaction. */
final class SqlScript {
    /**
     * The parts that may contain a semicolon: a comment, a quoted text or name (a doubled quote counts as two of them),
     * a dollar-quoted text; otherwise any single character.
     */
    private static final Pattern PIECE =
            Pattern.compile("--[^\n]*|/\\*.*?\\*/|'[^']*'|\"[^\"]*\"|(\\$\\w*\\$).*?\\1|(;)|.", Pattern.DOTALL);

    /** An index on a table that is built without CONCURRENTLY. */
    private static final Pattern INDEX =
            Pattern.compile("CREATE INDEX (?:IF NOT EXISTS )?(\\w+) ON carillon\\.(\\w+) (.*)", Pattern.DOTALL);

    private static final Pattern CONCURRENT =
            Pattern.compile("\\A(CREATE|DROP|REINDEX|ALTER TABLE)\\b[^$]*\\bCONCURRENTLY\\b");

    private SqlScript() {}

    /** An index of a file that is built without CONCURRENTLY: its name, its table and the rest of the statement. */
    record Index(String name, String table, String definition) {}

    /** Returns the index that a statement builds while it locks the table; empty for any other statement. */
    static Optional<Index> index(String statement) {
        Matcher made = INDEX.matcher(statement);
        return made.matches() ? Optional.of(new Index(made.group(1), made.group(2), made.group(3))) : Optional.empty();
    }

    /** Returns whether a statement works concurrently with writers and cannot run in a transaction. */
    static boolean isConcurrent(String statement) {
        return CONCURRENT.matcher(statement).find();
    }

    /**
     * Returns the statements in order, without their semicolons; a part that contains only comments is not a statement.
     */
    static List<String> statements(String script) {
        List<String> statements = new ArrayList<>();
        StringBuilder statement = new StringBuilder();
        Matcher pieces = PIECE.matcher(script + "\n;");
        while (pieces.find()) {
            String piece = pieces.group();
            if (pieces.group(2) == null) {
                boolean comment = piece.startsWith("--") || piece.startsWith("/*");
                statement.append(comment ? " " : piece);
                continue;
            }
            if (!statement.toString().isBlank())
                statements.add(statement.toString().strip());
            statement.setLength(0);
        }
        return statements;
    }
}
