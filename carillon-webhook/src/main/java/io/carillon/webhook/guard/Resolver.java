package io.carillon.webhook.guard;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Resolves host names. The guard calls it once per delivery, and the delivery connects only to the checked addresses.
 */
@FunctionalInterface
public interface Resolver {
    /** Returns all addresses of the name; throws if there are none. */
    InetAddress[] resolve(String host) throws UnknownHostException;

    /** Returns the resolver of the operating system. */
    static Resolver system() {
        return InetAddress::getAllByName;
    }
}
