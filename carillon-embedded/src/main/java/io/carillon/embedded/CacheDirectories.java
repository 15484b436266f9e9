package io.carillon.embedded;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Where unpacked programs may be kept, best place first: {@code CARILLON_HOME}, the user's cache, the temporary directory. */
record CacheDirectories(Map<String, String> environment, UnaryOperator<String> property, String user) {

    static CacheDirectories here() {
        String user = Platform.WINDOWS ? System.getProperty("user.name") : String.valueOf(RunAs.currentUser());
        return new CacheDirectories(System.getenv(), name -> System.getProperty(name, ""), user);
    }

    List<Path> inOrder() {
        List<Path> places = new ArrayList<>();
        String home = environment.getOrDefault("CARILLON_HOME", "");
        if (!home.isBlank()) places.add(Path.of(home).toAbsolutePath().resolve("cache"));
        else addUserCache(places);
        places.add(shared());
        return places;
    }

    /** The place that other users can reach, but only this one may have filled. */
    Path shared() {
        return Path.of(property.apply("java.io.tmpdir")).toAbsolutePath().resolve("carillon-cache-" + user);
    }

    private void addUserCache(List<Path> places) {
        String system = property.apply("os.name");
        // A user without an entry in the password file has "?" for a home.
        Path home = Path.of(property.apply("user.home"));
        if (system.startsWith("Windows") && environment.containsKey("LOCALAPPDATA"))
            places.add(Path.of(environment.get("LOCALAPPDATA"), "carillon", "cache"));
        else if (system.startsWith("Mac") && home.isAbsolute()) places.add(home.resolve("Library/Caches/carillon"));
        else if (Path.of(environment.getOrDefault("XDG_CACHE_HOME", "")).isAbsolute())
            places.add(Path.of(environment.get("XDG_CACHE_HOME"), "carillon"));
        else if (home.isAbsolute()) places.add(home.resolve(".cache/carillon"));
    }
}
