package io.carillon.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.palantir.javaformat.java.Formatter;
import com.palantir.javaformat.java.JavaFormatterOptions;
import com.palantir.javaformat.java.JavaFormatterOptions.Style;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each build check must be seen to fail: one bad sample for each check, compiled with the flags of the parent pom. */
class BuildCheckSamplesTest {

    private static final String PACKAGE_INFO = """
            @org.jspecify.annotations.NullMarked
            package sample;
            """;
    private static final String CLEAN = """
            package sample;

            import org.jspecify.annotations.Nullable;

            final class Clean {
                static int length(@Nullable String text) {
                    return text == null ? 0 : text.length();
                }
            }
            """;

    @TempDir
    Path classes;

    /** The two sets of compiler flags in the parent pom. */
    enum Flags {
        MAIN,
        TEST;

        List<String> read() throws Exception {
            ParentPom pom = ParentPom.read();
            return this == MAIN ? pom.mainFlags() : pom.testFlags();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_clean_sample_passes_every_compiler_check(Flags flags) throws Exception {
        var result = Javac.compile(classes, flags.read(), PACKAGE_INFO, CLEAN);

        assertThat(result.messages()).isEmpty();
        assertThat(result.compiled()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void a_lint_warning_stops_the_build(Flags flags) throws Exception {
        var result = Javac.compile(classes, flags.read(), PACKAGE_INFO, """
                package sample;

                import java.util.List;

                final class Raw {
                    static int size(List list) {
                        return list.size();
                    }
                }
                """);

        assertThat(result.messages()).anyMatch(message -> message.contains("found raw type"));
        assertThat(result.compiled()).isEqualTo(ParentPom.newerJdk());
    }

    @ParameterizedTest
    @EnumSource
    void an_error_prone_finding_stops_the_build(Flags flags) throws Exception {
        var result = Javac.compile(classes, flags.read(), PACKAGE_INFO, """
                package sample;

                final class Dead {
                    static void check(int amount) {
                        if (amount < 0) {
                            new IllegalArgumentException("negative: " + amount);
                        }
                    }
                }
                """);

        assertThat(result.messages()).anyMatch(message -> message.startsWith("ERROR: [DeadException]"));
        assertThat(result.compiled()).isFalse();
    }

    @Test
    void null_away_stops_a_dereference_in_a_null_marked_package() throws Exception {
        var result = Javac.compile(classes, Flags.MAIN.read(), PACKAGE_INFO, """
                package sample;

                import org.jspecify.annotations.Nullable;

                final class Careless {
                    static int length(@Nullable String text) {
                        return text.length();
                    }
                }
                """);

        assertThat(result.messages()).anyMatch(message -> message.startsWith("ERROR: [NullAway]"));
        assertThat(result.compiled()).isFalse();
    }

    @Test
    void the_formatter_changes_a_badly_formatted_sample_and_leaves_a_clean_one() throws Exception {
        Formatter formatter = Formatter.createFormatter(
                JavaFormatterOptions.builder().style(Style.PALANTIR).build());

        assertThat(formatter.formatSource(CLEAN)).isEqualTo(CLEAN);
        assertThat(formatter.formatSource(CLEAN.replace("        return", "  return")))
                .isEqualTo(CLEAN);
    }

    @Test
    void the_build_checks_the_format_with_that_formatter() throws Exception {
        ParentPom pom = ParentPom.read();
        String spotless = "plugins/plugin[artifactId='spotless-maven-plugin']";

        assertThat(pom.text("/project/build/" + spotless + "/executions/execution/goals/goal"))
                .isEqualTo("check");
        assertThat(pom.text("/project/build/" + spotless + "/executions/execution/phase"))
                .isEqualTo("verify");
        assertThat(pom.text("/project/build/pluginManagement/" + spotless
                        + "/configuration/java/palantirJavaFormat/version"))
                .isEqualTo(pom.text("/project/properties/palantir.version"));
    }

    @Test
    void a_build_without_checks_has_a_separate_output_directory() throws Exception {
        assertThat(ParentPom.read().text("/project/profiles/profile[id='fast']/build/directory"))
                .as("classes compiled without checks would look up to date to a build with checks")
                .isEqualTo("${project.basedir}/target/fast");
    }

    @Test
    void no_module_turns_a_check_off() {
        SourceTree tree = SourceTree.here();

        for (Path module : tree.modules()) {
            Path pom = module.resolve("pom.xml");
            assertThat(SourceTree.read(pom))
                    .as("%s must leave the compiler and the formatter to the parent pom", tree.shown(pom))
                    .doesNotContain(
                            "maven-compiler-plugin", "spotless", "<lints>", "errorprone.flags", "warnings.are.errors");
        }
    }
}
