package io.carillon.embedded;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Settings of the server: our defaults, then the caller's, which win. */
final class Settings {
    private static final Map<String, String> ALWAYS =
            Map.of("max_connections", "200", "timezone", "UTC", "log_timezone", "UTC");
    // Kept data must survive a power cut even if somebody's postgresql.conf says otherwise.
    private static final Map<String, String> KEPT = Map.of("fsync", "on", "full_page_writes", "on");
    private static final Map<String, String> THROWN_AWAY = Map.of(
            "fsync", "off",
            "synchronous_commit", "off",
            "full_page_writes", "off",
            "autovacuum_max_workers", "1",
            "autovacuum_naptime", "60s");
    private static final Set<String> OURS =
            Set.of("port", "listen_addresses", "unix_socket_directories", "data_directory", "config_file", "hba_file");

    private final Map<String, String> values = new LinkedHashMap<>(ALWAYS);

    Settings(boolean kept) {
        values.putAll(kept ? KEPT : THROWN_AWAY);
    }

    void set(String name, String value) {
        if (!name.matches("[a-z_][a-z0-9_.]*"))
            throw new IllegalArgumentException(
                    "'%s' is no name of a PostgreSQL setting: use lower-case letters, digits, '_' and '.'."
                            .formatted(name));
        if (OURS.contains(name))
            throw new IllegalArgumentException(
                    "The setting '%s' belongs to the launcher. Use port(…) for the port; the server listens on loopback only."
                            .formatted(name));
        values.put(name, value);
    }

    /** As arguments of {@code postgres}, where no value needs quotes. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        values.forEach((name, value) -> arguments.addAll(List.of("-c", name + "=" + value)));
        arguments.addAll(List.of("-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="));
        return List.copyOf(arguments);
    }
}
