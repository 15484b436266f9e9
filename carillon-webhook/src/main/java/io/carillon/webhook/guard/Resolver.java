package io.carillon.webhook.guard;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Asks for all addresses of a name. The guard asks once for each delivery, and what it checked is what is connected to. */
@FunctionalInterface
public interface Resolver {
    /** All addresses of the name; throws if there are none. */
    InetAddress[] resolve(String host) throws UnknownHostException;

    /** The machine's own. */
    static Resolver system() {
        return InetAddress::getAllByName;
    }
}
