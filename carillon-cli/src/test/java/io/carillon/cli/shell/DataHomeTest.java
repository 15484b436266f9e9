package io.carillon.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the paths below are those of POSIX")
class DataHomeTest {
    private static final Map<String, String> NOTHING = Map.of();

    @Test
    void carillon_home_wins_on_every_system() {
        for (String system : new String[] {"Linux", "Mac OS X", "Windows 11"})
            assertThat(home(system, "/home/me", Map.of("CARILLON_HOME", "/srv/c", "XDG_DATA_HOME", "/x")))
                    .isEqualTo(Path.of("/srv/c"));
    }

    @Test
    void a_relative_carillon_home_is_meant_from_here() {
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
    void macos_and_windows_have_places_of_their_own() {
        assertThat(home("Mac OS X", "/Users/me", NOTHING))
                .isEqualTo(Path.of("/Users/me/Library/Application Support/carillon"));
        assertThat(home("Windows 11", "/Users/me", Map.of("LOCALAPPDATA", "/Users/me/Local")))
                .isEqualTo(Path.of("/Users/me/Local/carillon"));
        assertThat(home("Windows 11", "/Users/me", NOTHING)).isEqualTo(Path.of("/Users/me/AppData/Local/carillon"));
    }

    @Test
    void a_user_without_a_home_is_asked_for_a_place() {
        assertThatThrownBy(() -> home("Linux", "?", NOTHING))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("CARILLON_HOME");
    }

    @Test
    void what_is_no_path_is_refused() {
        assertThatThrownBy(() -> home("Linux", "/home/me", Map.of("CARILLON_HOME", "a\0b")))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("CARILLON_HOME");
    }

    private static Path home(String system, String user, Map<String, String> environment) {
        Map<String, String> properties = Map.of("os.name", system, "user.home", user);
        return new DataHome(environment, properties::get).path();
    }
}
