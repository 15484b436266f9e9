package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BuilderTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "port",
                "listen_addresses",
                "unix_socket_directories",
                "data_directory",
                "config_file",
                "hba_file",
                "x=y",
                "Fsync",
                ""
            })
    void reserved_settings_are_refused(String name) {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.temporary();
        assertThatThrownBy(() -> builder.setting(name, "1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + name + "'");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 65_536})
    void refuses_invalid_ports(int port) {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.temporary();
        assertThatThrownBy(() -> builder.port(port)).isInstanceOf(IllegalArgumentException.class);
    }
}
