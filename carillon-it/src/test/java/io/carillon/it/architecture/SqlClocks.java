package io.carillon.it.architecture;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds SQL that reads a clock other than carillon.clock(). The test kit replaces the body of that function, so virtual
 * time would not reach a second clock.
 */
public final class SqlClocks {

    private static final Pattern CLOCK = Pattern.compile(
            "\\b(?:now|timeofday|clock_timestamp|statement_timestamp|transaction_timestamp)\\s*\\("
                    + "|\\b(?:current_timestamp|localtimestamp|current_date|current_time|localtime)\\b"
                    + "|'(?:now|today|tomorrow|yesterday)'",
            Pattern.CASE_INSENSITIVE);

    /** The definition of carillon.clock(), with its body in dollar quotes, in quotes, or bare. */
    private static final Pattern DEFINITION = Pattern.compile(
            "create\\s+(?:or\\s+replace\\s+)?function\\s+carillon\\.clock\\s*\\(\\s*\\)"
                    + "(?:\\$(\\w*)\\$.*?\\$\\1\\$|'[^']*'|[^;$'])*+;",
            Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private SqlClocks() {}

    /** Returns one line for each other clock below the folder, and one if carillon.clock() has several definitions. */
    public static List<String> violations(Path main) {
        List<String> violations = new ArrayList<>();
        List<String> definitions = new ArrayList<>();
        for (Path file : SourceTree.files(main.resolve("java"), ".java")) {
            scan(file, JavaTexts.of(SourceTree.read(file)), violations, definitions);
        }
        for (Path file : SourceTree.files(main.resolve("resources"), ".sql")) {
            scan(file, List.of(SourceTree.read(file)), violations, definitions);
        }
        if (definitions.size() > 1) {
            violations.add("carillon.clock() is defined more than once: " + definitions);
        }
        return violations;
    }

    private static void scan(Path file, List<String> texts, List<String> violations, List<String> definitions) {
        String name = file.getFileName().toString();
        for (String text : texts) {
            String sql = JavaTexts.withoutSqlComments(text);
            Matcher definition = DEFINITION.matcher(sql);
            definition.results().forEach(found -> definitions.add(name));
            CLOCK.matcher(definition.replaceAll(" "))
                    .results()
                    .map(MatchResult::group)
                    .forEach(clock -> violations.add(name + " uses " + clock + ": use carillon.clock()"));
        }
    }
}
