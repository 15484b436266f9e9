package io.carillon.webhook.guard;

import java.net.InetAddress;
import java.util.Optional;

/**
 * The address of a URL in canonical form. It exists only for URLs that every parser reads in the same way.
 *
 * @param host the host name in lower-case ASCII without a trailing dot, or an IP address
 * @param path the path with the query
 */
public record TargetAddress(boolean tls, String host, int port, String path) {
    /** Parses a URL; rejects URLs that parsers could read in different ways. */
    public static TargetAddress parse(String url) {
        return new TargetAddressParser(url).parse();
    }

    /** Returns the IP address if the host is one. */
    Optional<InetAddress> literal() {
        return Cidr.IpLiterals.parse(host);
    }

    /** Returns host and port, the key of limits and breakers. */
    public String hostAndPort() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }

    /** Leaves out the path, because its query may contain a secret. */
    @Override
    public String toString() {
        return (tls ? "https://" : "http://") + hostAndPort();
    }
}
