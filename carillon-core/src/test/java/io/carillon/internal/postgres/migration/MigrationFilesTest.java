package io.carillon.internal.postgres.migration;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MigrationFilesTest {
    @Test
    void lists_every_file_of_the_directory_and_no_other() throws Exception {
        URL index = MigrationFiles.class.getResource("/io/carillon/internal/postgres/migrations/index.txt");
        List<String> inDirectory;
        try (Stream<Path> files = Files.list(Path.of(index.toURI()).getParent())) {
            inDirectory = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".sql"))
                    .sorted()
                    .toList();
        }

        List<String> listed =
                MigrationFiles.load().stream().map(Migration::file).toList();

        assertThat(listed).isEqualTo(inDirectory).isNotEmpty();
    }

    /** A file in one transaction holds all its locks until its end, and sessions that use the tables wait for it. */
    @Test
    void changes_several_tables_that_are_in_use_statement_by_statement() {
        Pattern changed = Pattern.compile(
                "(?:ALTER TABLE|(?:CREATE|DROP)[A-Z ]* INDEX\\b.*? ON|CREATE (?:TRIGGER|POLICY)\\b.*? ON) (?:ONLY"
                        + " )?(carillon\\.\\w+)",
                Pattern.DOTALL);
        for (Migration file : MigrationFiles.load()) {
            if (!file.transactional()) continue;
            Set<String> tables = new TreeSet<>();
            for (String statement : SqlScript.statements(file.sql())) {
                Matcher table = changed.matcher(statement);
                if (table.find() && !file.sql().contains("CREATE TABLE " + table.group(1))) tables.add(table.group(1));
            }
            assertThat(tables)
                    .as("%s needs the line '-- transaction: off'", file.file())
                    .hasSizeLessThan(2);
        }
    }

    @Test
    void names_the_schema_in_every_object_it_creates() {
        for (Migration file : MigrationFiles.load()) {
            assertThat(SqlScript.statements(file.sql()))
                    .as(file.file())
                    .allMatch(statement -> statement.contains(" carillon."));
        }
    }
}
