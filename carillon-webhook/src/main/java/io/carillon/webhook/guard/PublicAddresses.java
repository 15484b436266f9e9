package io.carillon.webhook.guard;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Whether an address belongs to the public internet, by its bytes. What is not known to be public is not: of IPv6 only global unicast passes, less what is set
 * apart in it, and forms that carry an IPv4 address are judged by that address or refused.
 */
final class PublicAddresses {
    private static final List<Cidr> FOUR_SET_APART = ranges(
            "0.0.0.0/8", // this network
            "10.0.0.0/8",
            "100.64.0.0/10", // carriers' NAT; also a cloud's metadata
            "127.0.0.0/8",
            "168.63.129.16", // a cloud's host agent, reachable from its guests only
            "169.254.0.0/16", // link-local; most clouds' metadata
            "172.16.0.0/12",
            "192.0.0.0/24", // protocol assignments
            "192.0.2.0/24", // documentation
            "192.31.196.0/24", // anycast sinks
            "192.52.193.0/24",
            "192.88.99.0/24", // relays of 6to4
            "192.168.0.0/16",
            "192.175.48.0/24",
            "198.18.0.0/15", // benchmarks
            "198.51.100.0/24", // documentation
            "203.0.113.0/24", // documentation
            "224.0.0.0/4", // multicast
            "240.0.0.0/4"); // reserved, and broadcast

    private static final Cidr SIX_GLOBAL = Cidr.parse("2000::/3");
    private static final List<Cidr> SIX_SET_APART = ranges(
            "2001::/23", // protocol assignments, Teredo among them
            "2001:db8::/32", // documentation
            "2002::/16", // 6to4
            "2620:4f:8000::/48", // anycast sink
            "3ffe::/16", // the old test network
            "3fff::/20"); // documentation

    // Of the JDK's making a mapped address is IPv4 already; bytes from elsewhere need not be.
    private static final Prefix MAPPED = new Prefix("00000000000000000000ffff");
    private static final Cidr NAT64 = Cidr.parse("64:ff9b::/96");

    private PublicAddresses() {}

    static boolean contains(byte[] address) {
        if (address.length == 4) return FOUR_SET_APART.stream().noneMatch(range -> range.contains(address));
        if (address.length != 16) return false;
        if (MAPPED.starts(address) || NAT64.contains(address)) return contains(Arrays.copyOfRange(address, 12, 16));
        return SIX_GLOBAL.contains(address)
                && SIX_SET_APART.stream().noneMatch(range -> range.contains(address))
                && !tunnelled(address);
    }

    /** ISATAP: the lower half is {@code [02]00:5efe} and an IPv4 address. */
    private static boolean tunnelled(byte[] address) {
        return (address[8] & 0xFD) == 0 && address[9] == 0 && address[10] == 0x5E && (address[11] & 0xFF) == 0xFE;
    }

    private static List<Cidr> ranges(String... ranges) {
        return Stream.of(ranges).map(Cidr::parse).toList();
    }

    /** Leading bytes that cannot be written as an address, because the JDK would make another of it. */
    private record Prefix(String hex) {
        boolean starts(byte[] address) {
            return java.util.HexFormat.of().formatHex(address).startsWith(hex);
        }
    }
}
