package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CacheDirectoriesTest {
    @Test
    void programs_are_kept_under_carillon_home_then_in_the_users_cache_then_in_the_temporary_directory() {
        assertThat(places(Map.of("CARILLON_HOME", "/c", "XDG_CACHE_HOME", "/x"), "Linux", "/home/me"))
                .containsExactly("/c/cache", "/tmp/carillon-cache-7");
        assertThat(places(Map.of("XDG_CACHE_HOME", "/x"), "Linux", "/home/me"))
                .containsExactly("/x/carillon", "/tmp/carillon-cache-7");
        assertThat(places(Map.of(), "Linux", "/home/me"))
                .containsExactly("/home/me/.cache/carillon", "/tmp/carillon-cache-7");
        assertThat(places(Map.of(), "Mac OS X", "/Users/me"))
                .containsExactly("/Users/me/Library/Caches/carillon", "/tmp/carillon-cache-7");
        assertThat(places(Map.of(), "Linux", "?")).containsExactly("/tmp/carillon-cache-7");
    }

    private static List<String> places(Map<String, String> environment, String os, String home) {
        Map<String, String> properties = Map.of("os.name", os, "user.home", home, "java.io.tmpdir", "/tmp");
        return new CacheDirectories(environment, name -> properties.getOrDefault(name, ""), "7")
                .inOrder().stream().map(Path::toString).toList();
    }
}
