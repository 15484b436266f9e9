package io.carillon.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** No library has a vulnerability that the list of advisories names. */
class AdvisoriesTest {
    private static final String LINE =
            "org.postgresql:postgresql,42.7.7,CVE-2025-49146,2025-06-17,https://example.com\n";
    private static final String JAR = "/m2/org/postgresql/postgresql/%1$s/postgresql-%1$s.jar";

    @Test
    void no_library_on_the_class_path_has_a_listed_vulnerability() {
        Advisories advisories =
                Advisories.parse(SourceTree.read(SourceTree.here().root().resolve(Advisories.FILE)));

        assertThat(advisories.list()).isNotEmpty();
        assertThat(advisories.violations(
                        List.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"42.7.6", "42.2.29", "9.4.1212", "42.7.7-rc1"})
    void a_version_below_the_fix_is_stopped(String version) {
        assertThat(Advisories.parse(LINE).violations(List.of("/classes", JAR.formatted(version))))
                .containsExactly("org.postgresql:postgresql " + version
                        + " has CVE-2025-49146, fixed in 42.7.7: https://example.com");
    }

    @ParameterizedTest
    @ValueSource(strings = {"42.7.7", "42.7.10", "42.8", "43"})
    void a_version_with_the_fix_is_accepted(String version) {
        assertThat(Advisories.parse(LINE).violations(List.of(JAR.formatted(version))))
                .isEmpty();
    }

    @Test
    void an_entry_about_no_library_is_stopped() {
        assertThat(Advisories.parse(LINE).violations(List.of("/m2/postgresql/postgresql/42.7.7/postgresql-42.7.7.jar")))
                .containsExactly(
                        "CVE-2025-49146: org.postgresql:postgresql is not used. Correct its name, or remove the line.");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "postgresql,42.7.7,CVE-2025-49146,2025-06-17,https://example.com",
                "org.postgresql:postgresql,,CVE-2025-49146,2025-06-17,https://example.com",
                "org.postgresql:postgresql,42.7.7,49146,2025-06-17,https://example.com",
                "org.postgresql:postgresql,42.7.7,CVE-2025-49146,2025-06-17,a colleague",
                "org.postgresql:postgresql,42.7.7,CVE-2025-49146,June,https://example.com",
                "org.postgresql:postgresql,42.7.7",
            })
    void an_incomplete_entry_is_stopped(String line) {
        assertThatThrownBy(() -> Advisories.parse(line)).isInstanceOf(RuntimeException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "1.2, 1.10, -1",
        "1.2.0, 1.2, 0",
        "12.1.12, 12.1.9, 1",
        "1.0-alpha1, 1.0, -1",
        "1.0-alpha1, 1.0-beta1, -1",
        "2.0, 10.0-rc1, -1"
    })
    void versions_are_compared_by_their_numbers(String one, String other, int order) {
        assertThat(Integer.signum(Advisories.compareVersions(one, other))).isEqualTo(order);
        assertThat(Integer.signum(Advisories.compareVersions(other, one))).isEqualTo(-order);
    }
}
