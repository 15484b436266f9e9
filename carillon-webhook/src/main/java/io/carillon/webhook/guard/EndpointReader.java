package io.carillon.webhook.guard;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.net.IDN;
import java.net.InetAddress;
import java.util.Locale;
import java.util.regex.Pattern;

/** Reads the URL of a webhook strictly. The JDK's own class lets pass what HTTP clients read differently, so it is not asked. */
final class EndpointReader {
    private static final int LONGEST = 2048;
    private static final Pattern LABELS =
            Pattern.compile("(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");
    /** The last label of a name is never a number: whatever looks like one is an address in some reader's eyes. */
    private static final Pattern NUMBER = Pattern.compile("[0-9]+|0x[0-9a-f]*");

    private static final Pattern PORT = Pattern.compile("[1-9][0-9]{0,4}");
    private static final Pattern PATH = Pattern.compile("[/?][A-Za-z0-9\\-._~!$&'()*+,;=:@/?%\\[\\]|]*");

    private final String url;

    EndpointReader(String url) {
        this.url = url;
    }

    Endpoint read() {
        if (url.length() > LONGEST) throw refused("it has more than " + LONGEST + " characters");
        boolean tls = starts("https://");
        if (!tls && !starts("http://")) throw refused("it does not start with https:// or http://");
        String rest = url.substring(tls ? 8 : 7);
        int end = end(rest);
        String authority = rest.substring(0, end);
        String path = rest.substring(end);
        if (path.indexOf('#') >= 0) throw refused("it has a fragment, which is never sent");
        if (!path.isEmpty() && !PATH.matcher(path).matches())
            throw refused("its path has characters that must be written as %XX");
        if (authority.indexOf('@') >= 0) throw refused("it names a user; use a header with a secret instead");
        Parts parts = parts(authority);
        int port = parts.port == null ? (tls ? 443 : 80) : port(parts.port);
        return new Endpoint(tls, parts.host, port, path.isEmpty() || path.charAt(0) == '?' ? "/" + path : path);
    }

    private record Parts(
            String host, @org.jspecify.annotations.Nullable String port) {}

    private Parts parts(String authority) {
        if (authority.startsWith("[")) {
            int close = authority.indexOf(']');
            if (close < 0) throw refused("its address has no closing bracket");
            String after = authority.substring(close + 1);
            if (!after.isEmpty() && after.charAt(0) != ':') throw refused("something follows its address");
            InetAddress address = Cidr.Literals.six(authority.substring(1, close))
                    .orElseThrow(() -> refused("its address is none, or has a zone"));
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
        if (NUMBER.matcher(last).matches() && Cidr.Literals.four(host).isEmpty())
            throw refused("its host looks like an address but is not four decimal numbers");
        return host;
    }

    private int port(String text) {
        if (!PORT.matcher(text).matches() || Integer.parseInt(text) > 65_535)
            throw refused("its port is not a number from 1 to 65535");
        return Integer.parseInt(text);
    }

    private boolean starts(String scheme) {
        return url.regionMatches(true, 0, scheme, 0, scheme.length());
    }

    private static int end(String rest) {
        for (int i = 0; i < rest.length(); i++) if ("/?#\\".indexOf(rest.charAt(i)) >= 0) return i;
        return rest.length();
    }

    /** The URL itself is not repeated: it may hold a secret. */
    private static CarillonException refused(String why) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                "The webhook's URL is refused: %s. Write it like https://hooks.example.com/path.".formatted(why));
    }
}
