package io.carillon.internal.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGProperty;

/**
 * The driver settings that let a node leave a server that does not answer. A frozen server still accepts connections:
 * without a socketTimeout the driver waits for the startup answer and never tries the next host.
 */
public final class DriverTimeouts {
    private static final String SOCKET = PGProperty.SOCKET_TIMEOUT.getName();
    private static final String TARGET = PGProperty.TARGET_SERVER_TYPE.getName();
    private static final Map<String, String> RECOMMENDED =
            Map.of("connectTimeout", "5", "socketTimeout", "10", "loginTimeout", "30", "targetServerType", "primary");

    private DriverTimeouts() {}

    /**
     * Returns the settings that the URL of this connection lacks. Settings that a pool passes to the driver separately
     * do not count.
     */
    public static List<String> missingInUrl(Connection connection) throws SQLException {
        return missing(parsed(connection, new Properties()));
    }

    /**
     * Returns the settings that this connection lacks.
     *
     * @param poolSettings the settings that the pool passes to the driver besides the URL
     */
    public static List<String> missing(Connection connection, Properties poolSettings) throws SQLException {
        List<String> missing = missing(parsed(connection, poolSettings));
        // Some pools hide their settings, but the connection shows this one.
        if (connection.getNetworkTimeout() > 0) missing.remove(SOCKET);
        return missing;
    }

    /** Returns whether the driver can connect to another host. */
    public static boolean hasSeveralHosts(Connection connection) throws SQLException {
        return hasSeveralHosts(parsed(connection, new Properties()));
    }

    /** Returns a recommended value for each of these settings, as options of a URL. */
    public static String advice(List<String> missing) {
        return missing.stream().map(name -> name + "=" + RECOMMENDED.get(name)).collect(Collectors.joining("&"));
    }

    private static List<String> missing(@Nullable Properties settings) {
        List<String> missing = new ArrayList<>();
        if (settings == null) return missing;
        for (PGProperty timeout :
                List.of(PGProperty.SOCKET_TIMEOUT, PGProperty.CONNECT_TIMEOUT, PGProperty.LOGIN_TIMEOUT))
            if (!isPositive(timeout.getOrDefault(settings))) missing.add(timeout.getName());
        // Some data sources write the default into their URL. With it a node may connect to a standby.
        if (hasSeveralHosts(settings) && "any".equals(PGProperty.TARGET_SERVER_TYPE.getOrDefault(settings)))
            missing.add(TARGET);
        return missing;
    }

    private static boolean hasSeveralHosts(@Nullable Properties settings) {
        return settings != null
                && String.valueOf(PGProperty.PG_HOST.getOrDefault(settings)).contains(",");
    }

    /** Returns the settings as the driver reads them; null if the URL has another form than those of the driver. */
    private static @Nullable Properties parsed(Connection connection, Properties poolSettings) throws SQLException {
        return Driver.parseURL(String.valueOf(connection.getMetaData().getURL()), poolSettings);
    }

    private static boolean isPositive(@Nullable String seconds) {
        try {
            return seconds != null && Double.parseDouble(seconds) > 0;
        } catch (NumberFormatException unreadable) {
            return false;
        }
    }
}
