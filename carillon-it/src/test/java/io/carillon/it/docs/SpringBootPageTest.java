package io.carillon.it.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.architecture.SourceTree;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The Java of docs/spring-boot.md is a part of the application that the slow tests start with Spring Boot, and the
 * table of supported versions has the versions of the poms.
 */
class SpringBootPageTest {
    private static final Path ROOT = SourceTree.here().root();
    private static final Path BOOT = ROOT.resolve("carillon-it/boot");
    private static final String PAGE = SourceTree.read(ROOT.resolve("docs/spring-boot.md"));
    private static final String LIBRARY = SourceTree.read(ROOT.resolve("docs/library.md"));
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern PROPERTY = Pattern.compile("<([a-z0-9.-]+)\\.version>([^<]+)</");

    @Test
    void every_block_is_a_part_of_the_application() {
        List<String> sources = Stream.of("shop", "4.1")
                .flatMap(folder -> SourceTree.files(BOOT.resolve(folder), ".java").stream())
                .map(SourceTree::read)
                .toList();

        List<String> blocks =
                BLOCK.matcher(PAGE).results().map(block -> block.group(1)).toList();

        assertThat(blocks).hasSize(6);
        assertThat(blocks).allSatisfy(block -> assertThat(sources).anyMatch(source -> source.contains(block)));
    }

    @Test
    void the_health_indicator_differs_only_in_its_imports() {
        assertThat(healthIndicator("3.5").replace(".boot.actuate.health.", ".boot.health.contributor."))
                .isEqualTo(healthIndicator("4.1"));
        assertThat(PAGE).contains("`org.springframework.boot.actuate.health`");
    }

    private static String healthIndicator(String line) {
        return SourceTree.read(BOOT.resolve(line + "/src/test/java/com/example/shop/CarillonHealth.java"));
    }

    @ParameterizedTest
    @CsvSource({
        "Jackson 3, jackson",
        "Jackson 2, jackson2",
        "Micrometer, micrometer",
        "OpenTelemetry, opentelemetry",
        "JUnit, junit"
    })
    void the_table_of_supported_versions_is_that_of_the_build(String library, String property) {
        TreeMap<String, String> versions = new TreeMap<>();
        PROPERTY.matcher(SourceTree.read(ROOT.resolve("pom.xml")))
                .results()
                .forEach(found -> versions.put(found.group(1), found.group(2)));

        assertThat(row(library)).contains(versions.get(property + ".oldest"), versions.get(property));
    }

    @Test
    void the_table_names_the_versions_of_spring_boot_that_are_tested() {
        for (String line : List.of("3.5", "4.1")) {
            var version = Pattern.compile("<artifactId>spring-boot-starter-parent</artifactId>\\s*<version>([^<]+)<")
                    .matcher(SourceTree.read(BOOT.resolve(line + "/pom.xml")));
            assertThat(version.find()).isTrue();
            assertThat(row("Spring Boot")).contains(version.group(1));
        }
    }

    private static String row(String library) {
        return LIBRARY.lines()
                .filter(line -> line.startsWith("| " + library + " |"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no row for " + library));
    }
}
