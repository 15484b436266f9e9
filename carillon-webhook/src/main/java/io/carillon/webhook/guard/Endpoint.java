package io.carillon.webhook.guard;

import java.net.InetAddress;
import java.util.Optional;

/**
 * Where a URL points to, in the one form that goes on the wire: the host in small ASCII letters without a trailing dot, or an address; the port always set; the
 * path with its query. Who holds one knows that the URL had one reading only.
 */
public record Endpoint(boolean tls, String host, int port, String path) {
    /** Reads a URL; refuses whatever two readers could read in two ways. */
    public static Endpoint of(String url) {
        return new EndpointReader(url).read();
    }

    /** The address, where the host is one. */
    Optional<InetAddress> literal() {
        return Cidr.Literals.any(host);
    }

    /** Host and port, the unit of limits and breakers. */
    public String hostAndPort() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }

    /** Without the path, whose query may hold a secret. */
    @Override
    public String toString() {
        return (tls ? "https://" : "http://") + hostAndPort();
    }
}
