package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.walls.SourceTree;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** The seven files that docs/ARCHITECTURE.md tells a newcomer to read. */
class ReadingOrderTest {

    private static final List<String> SEVEN =
            List.of("Carillon", "TickPlanner", "PlanningLoop", "Claimer", "AttemptRunner", "Decider", "RunRepository");
    private static final Pattern STOP = Pattern.compile("(?m)^\\d\\. `(\\w+)`: ");

    private static final Path ROOT = SourceTree.here().root();

    @Test
    void the_page_lists_the_seven_in_reading_order() {
        assertThat(STOP.matcher(SourceTree.read(ROOT.resolve("docs/ARCHITECTURE.md")))
                        .results())
                .extracting(found -> found.group(1))
                .containsExactlyElementsOf(SEVEN);
    }

    @ParameterizedTest
    @FieldSource("SEVEN")
    void each_of_the_seven_is_one_file_of_the_library(String name) {
        assertThat(SourceTree.files(ROOT.resolve("carillon-core/src/main/java"), ".java"))
                .filteredOn(file -> file.endsWith(name + ".java"))
                .hasSize(1);
    }
}
