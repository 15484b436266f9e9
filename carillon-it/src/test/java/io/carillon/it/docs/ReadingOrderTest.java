package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.architecture.SourceTree;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** The seven files that docs/ARCHITECTURE.md recommends to read first. */
class ReadingOrderTest {

    private static final List<String> READING_ORDER = List.of(
            "Carillon", "TickPlanner", "PlanningLoop", "Claimer", "AttemptRunner", "OutcomeDecider", "RunRepository");
    private static final Pattern ENTRY = Pattern.compile("(?m)^\\d\\. `(\\w+)`: ");

    private static final Path ROOT = SourceTree.here().root();

    @Test
    void the_page_lists_the_seven_files_in_reading_order() {
        assertThat(ENTRY.matcher(SourceTree.read(ROOT.resolve("docs/ARCHITECTURE.md")))
                        .results())
                .extracting(found -> found.group(1))
                .containsExactlyElementsOf(READING_ORDER);
    }

    @ParameterizedTest
    @FieldSource("READING_ORDER")
    void each_of_the_seven_files_exists_once_in_the_library(String name) {
        assertThat(SourceTree.files(ROOT.resolve("carillon-core/src/main/java"), ".java"))
                .filteredOn(file -> file.endsWith(name + ".java"))
                .hasSize(1);
    }
}
