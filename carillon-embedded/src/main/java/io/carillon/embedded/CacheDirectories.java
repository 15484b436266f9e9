package io.carillon.embedded;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * The directories for unpacked binaries in order of preference: {@code CARILLON_HOME}, the user's cache directory, the
 * temporary directory.
 */
record CacheDirectories(Map<String, String> environment, UnaryOperator<String> property, String user) {

    static CacheDirectories ofThisProcess() {
        String user = Platform.WINDOWS ? System.getProperty("user.name") : String.valueOf(RunAs.currentUser());
        return new CacheDirectories(System.getenv(), name -> System.getProperty(name, ""), user);
    }

    List<Path> inOrder() {
        List<Path> directories = new ArrayList<>();
        String home = environment.getOrDefault("CARILLON_HOME", "");
        if (!home.isBlank()) directories.add(Path.of(home).toAbsolutePath().resolve("cache"));
        else addUserCache(directories);
        directories.add(shared());
        return directories;
    }

    /** Returns the directory that other users can read but only this user may have created. */
    Path shared() {
        return Path.of(property.apply("java.io.tmpdir")).toAbsolutePath().resolve("carillon-cache-" + user);
    }

    private void addUserCache(List<Path> directories) {
        String system = property.apply("os.name");
        // The home directory of a user without an entry in the password file is "?".
        Path home = Path.of(property.apply("user.home"));
        if (system.startsWith("Windows") && environment.containsKey("LOCALAPPDATA"))
            directories.add(Path.of(environment.get("LOCALAPPDATA"), "carillon", "cache"));
        else if (system.startsWith("Mac") && home.isAbsolute())
            directories.add(home.resolve("Library/Caches/carillon"));
        else if (Path.of(environment.getOrDefault("XDG_CACHE_HOME", "")).isAbsolute())
            directories.add(Path.of(environment.get("XDG_CACHE_HOME"), "carillon"));
        else if (home.isAbsolute()) directories.add(home.resolve(".cache/carillon"));
    }
}
