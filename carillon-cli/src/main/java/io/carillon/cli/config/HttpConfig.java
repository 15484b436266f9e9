package io.carillon.cli.config;

import io.carillon.CarillonException;
import io.carillon.cli.shell.UsageException;
import io.carillon.server.browser.AllowedHosts;
import java.util.List;
import java.util.stream.Stream;

/** The settings of the HTTP server: the host names that it answers for, and the connections from one address. */
public record HttpConfig(List<String> allowedHosts, int maxConnectionsPerAddress) {
    public HttpConfig {
        allowedHosts = List.copyOf(allowedHosts);
    }

    static HttpConfig of(Settings settings) {
        return new HttpConfig(
                allowedHosts(settings),
                settings.number(Setting.MAX_CONNECTIONS_PER_ADDRESS, 0, 1_000_000)
                        .orElseThrow());
    }

    private static List<String> allowedHosts(Settings settings) {
        List<String> names = settings.get(Setting.ALLOWED_HOSTS).stream()
                .flatMap(value -> Stream.of(value.text().split(",", -1)))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .toList();
        try {
            return AllowedHosts.checkNames(names);
        } catch (CarillonException refused) {
            throw new UsageException(String.valueOf(refused.getMessage()), refused);
        }
    }
}
