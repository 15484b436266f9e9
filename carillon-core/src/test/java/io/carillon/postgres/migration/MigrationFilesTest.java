package io.carillon.postgres.migration;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MigrationFilesTest {
    @Test
    void lists_every_file_of_the_directory_and_no_other() throws Exception {
        URL index = MigrationFiles.class.getResource("/io/carillon/postgres/migrations/index.txt");
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

    @Test
    void names_the_schema_in_every_object_it_creates() {
        for (Migration file : MigrationFiles.load()) {
            assertThat(SqlScript.statements(file.sql()))
                    .as(file.file())
                    .allMatch(statement -> statement.contains(" carillon."));
        }
    }
}
