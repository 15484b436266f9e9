package io.carillon.server.access;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The network of a client, by which failed requests are counted: the address itself for IPv4, the first 64 bits for
 * IPv6, because a provider gives each customer at least so many addresses.
 */
final class ClientNetwork {
    private static final int IPV6_PREFIX_BYTES = 8;

    private ClientNetwork() {}

    /** Returns the network of an IP address in text form. Text that is not an IP address is its own network. */
    static String of(String address) {
        Optional<byte[]> bytes = AddressRange.bytes(plain(address));
        if (bytes.isEmpty()) return address;
        return HexFormat.of()
                .formatHex(bytes.get().length == 4 ? bytes.get() : Arrays.copyOf(bytes.get(), IPV6_PREFIX_BYTES));
    }

    /** Returns an address without the brackets and the zone that HTTP servers may add. */
    static String plain(String address) {
        int zone = address.indexOf('%');
        return (zone < 0 ? address : address.substring(0, zone))
                .replace("[", "")
                .replace("]", "");
    }
}
