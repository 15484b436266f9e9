package io.carillon.postgres.migration;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Splits a script at its semicolons, because statements sent together would share one transaction. */
final class SqlScript {
    /** What may hide a semicolon: a comment, a quoted text or name (a doubled quote is two of them), a dollar-quoted text; else any one character. */
    private static final Pattern PIECE =
            Pattern.compile("--[^\n]*|/\\*.*?\\*/|'[^']*'|\"[^\"]*\"|(\\$\\w*\\$).*?\\1|(;)|.", Pattern.DOTALL);

    private SqlScript() {}

    /** The statements in order, without their semicolons; what holds only comments is no statement. */
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
