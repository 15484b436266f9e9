package io.carillon.embedded.internal.datadir;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The settings of the server: the defaults, overridden by those of the caller. */
public final class Settings {
    private static final Map<String, String> DEFAULTS =
            Map.of("max_connections", "200", "timezone", "UTC", "log_timezone", "UTC");
    // Persistent data must survive a power failure, whatever postgresql.conf contains.
    private static final Map<String, String> DURABLE = Map.of("fsync", "on", "full_page_writes", "on");
    private static final Map<String, String> NOT_DURABLE = Map.of(
            "fsync", "off",
            "synchronous_commit", "off",
            "full_page_writes", "off",
            "autovacuum_max_workers", "1",
            "autovacuum_naptime", "60s");
    private static final Set<String> RESERVED =
            Set.of("port", "listen_addresses", "unix_socket_directories", "data_directory", "config_file", "hba_file");

    private final Map<String, String> values = new LinkedHashMap<>(DEFAULTS);

    public Settings(boolean durable) {
        values.putAll(durable ? DURABLE : NOT_DURABLE);
    }

    public void set(String name, String value) {
        if (!name.matches("[a-z_][a-z0-9_.]*"))
            throw new IllegalArgumentException(
                    ("'%s' is not a name of a PostgreSQL setting. Names consist of lowercase letters, digits, '_' and"
                                    + " '.'.")
                            .formatted(name));
        if (RESERVED.contains(name))
            throw new IllegalArgumentException(
                    ("The setting '%s' is reserved. Use port(…) for the port; the server listens only on the loopback"
                                    + " address.")
                            .formatted(name));
        values.put(name, value);
    }

    /** Returns the settings as arguments of {@code postgres}, where values need no quoting. */
    public List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        values.forEach((name, value) -> arguments.addAll(List.of("-c", name + "=" + value)));
        arguments.addAll(List.of("-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="));
        return List.copyOf(arguments);
    }
}
