package io.carillon.cli.config;

import io.carillon.cli.shell.UsageException;

/** An address to listen on: {@code 8080}, {@code 0.0.0.0:8080} or {@code [::1]:8080}. */
public record Address(String host, int port) {
    /** Parses an address. A port without a host means the loopback address. */
    public static Address parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "127.0.0.1" : text.substring(0, colon);
        String port = text.substring(colon + 1);
        if (host.isEmpty() || !port.matches("[0-9]{1,5}") || Integer.parseInt(port) > 65_535)
            throw new UsageException(
                    "'%s' is not an address to listen on. Write a port or HOST:PORT, such as 8080 or 0.0.0.0:8080."
                            .formatted(text));
        boolean brackets = host.startsWith("[") && host.endsWith("]");
        return new Address(brackets ? host.substring(1, host.length() - 1) : host, Integer.parseInt(port));
    }
}
