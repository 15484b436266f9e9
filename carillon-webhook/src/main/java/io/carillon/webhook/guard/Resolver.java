package io.carillon.webhook.guard;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Resolves host names. A delivery resolves its name once and connects only to the checked addresses. A call may block
 * for longer than the timeout of a delivery.
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
