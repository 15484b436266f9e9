package io.carillon.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the paths below are those of POSIX")
class DataDirectoryTest {
    private static final Map<String, String> NOTHING = Map.of();

    @Test
    void carillon_home_wins_on_every_system() {
        for (String system : new String[] {"Linux", "Mac OS X", "Windows 11"})
            assertThat(home(system, "/home/me", Map.of("CARILLON_HOME", "/srv/c", "XDG_DATA_HOME", "/x")))
                    .isEqualTo(Path.of("/srv/c"));
    }

    @Test
    void a_relative_carillon_home_is_resolved_against_the_working_directory() {
        assertThat(home("Linux", "/home/me", Map.of("CARILLON_HOME", "here/../data")))
                .isEqualTo(Path.of("data").toAbsolutePath());
    }

    @Test
    void on_linux_it_follows_the_xdg_directories() {
        assertThat(home("Linux", "/home/me", NOTHING)).isEqualTo(Path.of("/home/me/.local/share/carillon"));
        assertThat(home("Linux", "/home/me", Map.of("XDG_DATA_HOME", "/data"))).isEqualTo(Path.of("/data/carillon"));
    }

    @Test
    void blank_variables_and_a_relative_xdg_path_do_not_count() {
        assertThat(home("Linux", "/home/me", Map.of("CARILLON_HOME", " ", "XDG_DATA_HOME", "data")))
                .isEqualTo(Path.of("/home/me/.local/share/carillon"));
    }

    @Test
    void macos_and_windows_have_their_own_directories() {
        assertThat(home("Mac OS X", "/Users/me", NOTHING))
                .isEqualTo(Path.of("/Users/me/Library/Application Support/carillon"));
        assertThat(home("Windows 11", "/Users/me", Map.of("LOCALAPPDATA", "/Users/me/Local")))
                .isEqualTo(Path.of("/Users/me/Local/carillon"));
        assertThat(home("Windows 11", "/Users/me", NOTHING)).isEqualTo(Path.of("/Users/me/AppData/Local/carillon"));
    }

    @Test
    void a_user_without_a_home_directory_must_set_carillon_home() {
        assertThatThrownBy(() -> home("Linux", "?", NOTHING))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("CARILLON_HOME");
    }

    @Test
    void an_invalid_path_is_rejected() {
        assertThatThrownBy(() -> home("Linux", "/home/me", Map.of("CARILLON_HOME", "a\0b")))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("CARILLON_HOME");
    }

    private static Path home(String system, String user, Map<String, String> environment) {
        Map<String, String> properties = Map.of("os.name", system, "user.home", user);
        return new DataDirectory(environment, properties::get).path();
    }
}
