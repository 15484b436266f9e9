package io.carillon.webhook.guard;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.net.IDN;
import java.net.InetAddress;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A strict parser for the URLs of webhooks. It does not use {@link java.net.URI}, which accepts URLs that HTTP clients
 * read differently.
 */
final class TargetAddressParser {
    private static final int MAX_LENGTH = 2048;
    private static final Pattern LABELS =
            Pattern.compile("(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");
    /** The last label of a host name must not be a number, because some parsers read such a name as an address. */
    private static final Pattern NUMBER = Pattern.compile("[0-9]+|0x[0-9a-f]*");

    private static final Pattern PORT = Pattern.compile("[1-9][0-9]{0,4}");
    private static final Pattern PATH = Pattern.compile("[/?][A-Za-z0-9\\-._~!$&'()*+,;=:@/?%\\[\\]|]*");

    private final String url;

    TargetAddressParser(String url) {
        this.url = url;
    }

    TargetAddress parse() {
        if (url.length() > MAX_LENGTH) throw refused("it must have at most " + MAX_LENGTH + " characters");
        boolean tls = starts("https://");
        if (!tls && !starts("http://")) throw refused("it must start with https:// or http://");
        String rest = url.substring(tls ? 8 : 7);
        int end = end(rest);
        String authority = rest.substring(0, end);
        String path = rest.substring(end);
        if (path.indexOf('#') >= 0) throw refused("it must not have a fragment");
        if (!path.isEmpty() && !PATH.matcher(path).matches())
            throw refused("its path contains characters that must be percent-encoded");
        if (authority.indexOf('@') >= 0) throw refused("it must not contain a user; use a secret header instead");
        Parts parts = parts(authority);
        int port = parts.port == null ? (tls ? 443 : 80) : port(parts.port);
        return new TargetAddress(tls, parts.host, port, path.isEmpty() || path.charAt(0) == '?' ? "/" + path : path);
    }

    private record Parts(
            String host, @org.jspecify.annotations.Nullable String port) {}

    private Parts parts(String authority) {
        if (authority.startsWith("[")) {
            int close = authority.indexOf(']');
            if (close < 0) throw refused("its address has no closing bracket");
            String after = authority.substring(close + 1);
            if (!after.isEmpty() && after.charAt(0) != ':') throw refused("only a port may follow its address");
            InetAddress address = Cidr.IpLiterals.parseIpv6(authority.substring(1, close))
                    .orElseThrow(() -> refused("its address is invalid or has a zone"));
            return new Parts(address.getHostAddress(), after.isEmpty() ? null : after.substring(1));
        }
        int colon = authority.indexOf(':');
        String host = host(colon < 0 ? authority : authority.substring(0, colon));
        return new Parts(host, colon < 0 ? null : authority.substring(colon + 1));
    }

    private String host(String text) {
        String host;
        try {
            host = IDN.toASCII(text, IDN.USE_STD3_ASCII_RULES).toLowerCase(Locale.ROOT);
        } catch (IllegalArgumentException malformed) {
            throw refused("its host is not a valid name");
        }
        if (host.endsWith(".")) host = host.substring(0, host.length() - 1);
        if (host.length() > 253 || !LABELS.matcher(host).matches()) throw refused("its host is not a valid name");
        String last = host.substring(host.lastIndexOf('.') + 1);
        if (NUMBER.matcher(last).matches() && Cidr.IpLiterals.parseIpv4(host).isEmpty())
            throw refused("its host looks like an address but does not have four decimal numbers");
        return host;
    }

    private int port(String text) {
        if (!PORT.matcher(text).matches() || Integer.parseInt(text) > 65_535)
            throw refused("its port must be between 1 and 65535");
        return Integer.parseInt(text);
    }

    private boolean starts(String scheme) {
        return url.regionMatches(true, 0, scheme, 0, scheme.length());
    }

    private static int end(String rest) {
        for (int i = 0; i < rest.length(); i++) if ("/?#\\".indexOf(rest.charAt(i)) >= 0) return i;
        return rest.length();
    }

    /** Returns the exception. Its message does not contain the URL, which may contain a secret. */
    private static CarillonException refused(String why) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                "Invalid webhook URL: %s. Use a URL such as https://hooks.example.com/path.".formatted(why));
    }
}
