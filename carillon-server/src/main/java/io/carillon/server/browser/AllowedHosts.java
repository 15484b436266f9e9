package io.carillon.server.browser;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The host names that a server answers for. An attacker can point a name to any address, but cannot make a
 * browser send another name than that (DNS rebinding). IP addresses and {@code localhost} are therefore always allowed.
 */
public final class AllowedHosts implements Predicate<String> {
    /** Allows all names. */
    public static final String ANY = "*";

    private static final Pattern NAME = Pattern.compile("[a-z0-9_]([a-z0-9_-]{0,62})(\\.[a-z0-9_]([a-z0-9_-]{0,62}))*");
    private static final Pattern IPV4 = Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}");
    private static final Pattern PORT = Pattern.compile(":[0-9]{0,5}$");

    private final String listenHost;
    private final Set<String> names;

    /**
     * Allows the host that the server listens on, and these names.
     *
     * @param names without a port; {@value #ANY} allows all
     */
    public AllowedHosts(String listenHost, List<String> names) {
        this.listenHost = listenHost.toLowerCase(Locale.ROOT);
        this.names = Set.copyOf(checkNames(names));
    }

    /** Returns the names in lower case. Throws if one is not a host name. */
    public static List<String> checkNames(List<String> names) {
        List<String> checked = new ArrayList<>();
        for (String name : names) {
            String plain = name.toLowerCase(Locale.ROOT);
            if (!plain.equals(ANY) && !NAME.matcher(plain).matches())
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "Invalid allowed host \"%s\". Use a host name without a port, such as carillon.example, or *."
                                .formatted(name));
            checked.add(plain);
        }
        return checked;
    }

    /** Returns whether the server answers requests with this {@code Host} header; HTTP/1.0 clients send none. */
    @Override
    public boolean test(String header) {
        String host = host(header);
        return host.isEmpty()
                || host.equals(listenHost)
                || isLocal(host)
                || isAddress(host)
                || names.contains(host)
                || names.contains(ANY);
    }

    /** Returns whether the operator listed this name. */
    boolean isListed(String authority) {
        return names.contains(host(authority));
    }

    /** Returns whether requests with this {@code Host} header come from the same machine. */
    static boolean isLoopback(String header) {
        String host = host(header);
        return isLocal(host) || host.equals("[::1]") || (IPV4.matcher(host).matches() && host.startsWith("127."));
    }

    private static boolean isLocal(String host) {
        return host.equals("localhost") || host.endsWith(".localhost");
    }

    private static boolean isAddress(String host) {
        return IPV4.matcher(host).matches() || (host.startsWith("[") && host.endsWith("]"));
    }

    /** Returns the host without its port, in lower case. */
    private static String host(String authority) {
        String host = PORT.matcher(authority.strip().toLowerCase(Locale.ROOT)).replaceFirst("");
        return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    }
}
