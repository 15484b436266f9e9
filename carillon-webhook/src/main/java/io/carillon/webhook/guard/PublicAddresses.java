package io.carillon.webhook.guard;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Decides by its bytes whether an address belongs to the public internet. An address that is not known to be public is
 * not public: of IPv6, only global unicast is, without its reserved ranges. A form that contains an IPv4 address is
 * judged by that address or rejected.
 */
final class PublicAddresses {
    private static final List<Cidr> RESERVED_IPV4 = ranges(
            "0.0.0.0/8", // this network
            "10.0.0.0/8",
            "100.64.0.0/10", // carrier-grade NAT; also the metadata service of a cloud
            "127.0.0.0/8",
            "168.63.129.16", // the host agent of a cloud, reachable only from its guests
            "169.254.0.0/16", // link-local; the metadata service of most clouds
            "172.16.0.0/12",
            "192.0.0.0/24", // protocol assignments
            "192.0.2.0/24", // documentation
            "192.31.196.0/24", // anycast sinks
            "192.52.193.0/24",
            "192.88.99.0/24", // 6to4 relays
            "192.168.0.0/16",
            "192.175.48.0/24",
            "198.18.0.0/15", // benchmarking
            "198.51.100.0/24", // documentation
            "203.0.113.0/24", // documentation
            "224.0.0.0/4", // multicast
            "240.0.0.0/4"); // reserved, including broadcast

    private static final Cidr GLOBAL_IPV6 = Cidr.parse("2000::/3");
    private static final List<Cidr> RESERVED_IPV6 = ranges(
            "2001::/23", // protocol assignments, including Teredo
            "2001:db8::/32", // documentation
            "2002::/16", // 6to4
            "2620:4f:8000::/48", // anycast sink
            "3ffe::/16", // former 6bone test network
            "3fff::/20"); // documentation

    private PublicAddresses() {}

    static boolean contains(byte[] address) {
        if (address.length == 4) return RESERVED_IPV4.stream().noneMatch(range -> range.contains(address));
        if (address.length != 16) return false;
        if (EmbeddedIpv4.isMappedOrNat64(address)) return contains(Arrays.copyOfRange(address, 12, 16));
        return GLOBAL_IPV6.contains(address)
                && RESERVED_IPV6.stream().noneMatch(range -> range.contains(address))
                && !EmbeddedIpv4.isIsatap(address);
    }

    private static List<Cidr> ranges(String... ranges) {
        return Stream.of(ranges).map(Cidr::parse).toList();
    }
}
