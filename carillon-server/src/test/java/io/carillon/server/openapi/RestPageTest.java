package io.carillon.server.openapi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The reference in docs/rest.md matches openapi.json. {@code -Dpages=write} writes it first. */
class RestPageTest {
    private static final Path PAGE = Path.of("../docs/rest.md");
    private static final String COMMAND =
            "mvn -B -pl carillon-server -am test -Dtest=RestPageTest -Dsurefire.failIfNoSpecifiedTests=false"
                    + " -Dpages=write";

    @BeforeAll
    static void write() throws IOException {
        if ("write".equals(System.getProperty("pages")))
            Files.writeString(PAGE, RestReference.on(Files.readString(PAGE)));
    }

    @Test
    void the_reference_is_what_the_description_says() throws IOException {
        String page = Files.readString(PAGE);

        assertThat(page)
                .as("docs/rest.md is out of date with openapi.json: " + COMMAND)
                .isEqualTo(RestReference.on(page));
    }

    @Test
    void every_operation_is_listed_with_its_scope() throws IOException {
        String page = Files.readString(PAGE);

        assertThat(OpenApiDescription.instance().operations())
                .isNotEmpty()
                .allSatisfy(operation ->
                        assertThat(page).contains("| `%s` | %s |".formatted(operation, operation.permission())));
    }

    @Test
    void the_command_that_writes_it_is_in_contributing_md() throws IOException {
        assertThat(Files.readString(Path.of("../CONTRIBUTING.md"))).contains(COMMAND);
    }
}
