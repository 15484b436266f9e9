package io.carillon.cli.config;

/** The settings of the HTTP server: the connections from one address. */
public record HttpConfig(int maxConnectionsPerAddress) {
    static HttpConfig of(Settings settings) {
        return new HttpConfig(settings.number(Setting.MAX_CONNECTIONS_PER_ADDRESS, 0, 1_000_000)
                .orElseThrow());
    }
}
