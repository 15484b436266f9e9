package io.carillon.cli.config;

import io.carillon.CarillonException;
import io.carillon.cli.shell.UsageException;
import io.carillon.server.ServerBuilder;
import io.carillon.server.browser.AllowedHosts;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The settings of the HTTP server: the host names that it answers for, its address for browsers, the connections from
 * one address, and whether it refuses changes.
 */
public record HttpConfig(
        List<String> allowedHosts, Optional<URI> publicUrl, int maxConnectionsPerAddress, boolean readOnly) {
    public HttpConfig {
        allowedHosts = List.copyOf(allowedHosts);
    }

    static HttpConfig of(Settings settings) {
        return new HttpConfig(
                allowedHosts(settings),
                settings.get(Setting.PUBLIC_URL).map(HttpConfig::publicUrl),
                settings.number(Setting.MAX_CONNECTIONS_PER_ADDRESS, 0, 1_000_000)
                        .orElseThrow(),
                Boolean.parseBoolean(settings.word(Setting.READ_ONLY)));
    }

    private static URI publicUrl(Settings.Value value) {
        try {
            URI url = URI.create(value.text());
            if (ServerBuilder.isPublicUrl(url)) return url;
        } catch (IllegalArgumentException odd) {
            throw invalidUrl(value);
        }
        throw invalidUrl(value);
    }

    private static UsageException invalidUrl(Settings.Value value) {
        return Settings.invalidValue(
                Setting.PUBLIC_URL,
                value,
                "a URL such as https://carillon.example; http only for an address of this machine");
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
