package io.carillon.it.architecture;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds SQL of the server that names a table or function of the engine. The engine may change these in any release; the
 * server uses the API, or the queries of {@code io.carillon.internal.postgres.reads}.
 */
public final class ServerTables {

    /** The migration that creates the server's own tables. */
    private static final String OWN_MIGRATION = "0002_server_tables.sql";

    /**
     * Names of both: each project of the engine has a row in the table project, in which the server keeps its owner and
     * laneClaim; all SQL uses the one clock; and an operator is told to call enable_row_security.
     */
    private static final Set<String> SHARED = Set.of("project", "clock", "enable_row_security");

    private static final Pattern CREATED =
            Pattern.compile("CREATE\\s+(?:OR\\s+REPLACE\\s+)?(?:TABLE|FUNCTION|VIEW|SEQUENCE)\\s+carillon\\.(\\w+)");

    /** A name in the schema, quoted or not, or the end of a text that another text continues with a name. */
    private static final Pattern NAME =
            Pattern.compile("(?<![\\w.])carillon[\\\\\"]*\\.[\\\\\"]*(\\w+|$)", Pattern.CASE_INSENSITIVE);

    private ServerTables() {}

    /** Returns one line for each name of the engine in the SQL below {@code server}. */
    public static List<String> violations(Path server, Path migrations) {
        Set<String> engine = namesOfTheEngine(migrations);
        return SourceTree.files(server, ".java").stream()
                .flatMap(file -> JavaTexts.of(SourceTree.read(file)).stream()
                        .map(JavaTexts::withoutSqlComments)
                        .flatMap(sql -> NAME.matcher(sql).results())
                        .map(found -> found.group(1).toLowerCase(Locale.ROOT))
                        .filter(name -> name.isEmpty() || engine.contains(name))
                        .map(name -> "%s uses carillon.%s: move the statement to io.carillon.internal.postgres.reads"
                                .formatted(file.getFileName(), name)))
                .toList();
    }

    private static Set<String> namesOfTheEngine(Path migrations) {
        Set<String> names = new HashSet<>();
        for (Path file : SourceTree.files(migrations, ".sql")) {
            if (!file.endsWith(OWN_MIGRATION)) {
                created(SourceTree.read(file)).forEach(names::add);
            }
        }
        names.removeAll(SHARED);
        if (names.isEmpty()) {
            throw new IllegalStateException("No migration below " + migrations + " creates a table");
        }
        return names;
    }

    private static Stream<String> created(String sql) {
        return CREATED.matcher(sql).results().map(found -> found.group(1));
    }
}
