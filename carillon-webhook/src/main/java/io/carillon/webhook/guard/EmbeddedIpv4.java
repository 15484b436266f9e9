package io.carillon.webhook.guard;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds the IPv4 addresses inside an IPv6 address. A gateway or a tunnel may forward a packet for such an address to
 * the IPv4 address, so a rule for IPv4 must apply to both.
 */
final class EmbeddedIpv4 {
    // Cidr cannot hold this prefix: the JDK converts an IPv4-mapped address to IPv4.
    private static final byte[] MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (byte) 0xFF, (byte) 0xFF};
    private static final Cidr COMPATIBLE = Cidr.parse("::/96");
    private static final Cidr TRANSLATED = Cidr.parse("::ffff:0:0:0/96");
    private static final Cidr NAT64 = Cidr.parse("64:ff9b::/96");
    /** NAT64 inside a network (RFC 8215). The network chooses the length of its prefix, of at least 48 bits. */
    private static final Cidr LOCAL_NAT64 = Cidr.parse("64:ff9b:1::/48");

    private static final Cidr SIX_TO_FOUR = Cidr.parse("2002::/16");
    private static final Cidr TEREDO = Cidr.parse("2001::/32");

    private EmbeddedIpv4() {}

    /** Returns whether the last four bytes are the public form of an IPv4 address: mapped, or of the public NAT64. */
    static boolean isMappedOrNat64(byte[] address) {
        return isMapped(address) || NAT64.contains(address);
    }

    /** Returns every IPv4 address that this address may stand for; none for an IPv4 address. */
    static List<byte[]> in(byte[] address) {
        List<byte[]> found = new ArrayList<>();
        if (address.length != 16) return found;
        boolean last = isMappedOrNat64(address)
                || COMPATIBLE.contains(address)
                || TRANSLATED.contains(address)
                || isIsatap(address);
        if (last) found.add(bytes(address, 12, 13, 14, 15));
        if (LOCAL_NAT64.contains(address)) {
            // RFC 6052 for prefixes of 48, 56, 64 and 96 bits; byte 8 is never part of the IPv4 address.
            found.add(bytes(address, 6, 7, 9, 10));
            found.add(bytes(address, 7, 9, 10, 11));
            found.add(bytes(address, 9, 10, 11, 12));
            found.add(bytes(address, 12, 13, 14, 15));
        }
        if (SIX_TO_FOUR.contains(address)) found.add(bytes(address, 2, 3, 4, 5));
        if (TEREDO.contains(address)) {
            found.add(bytes(address, 4, 5, 6, 7)); // the server
            byte[] client = bytes(address, 12, 13, 14, 15);
            for (int i = 0; i < client.length; i++) client[i] ^= (byte) 0xFF;
            found.add(client);
        }
        return found;
    }

    /** ISATAP: the lower half is {@code [02]00:5efe} and an IPv4 address. */
    static boolean isIsatap(byte[] address) {
        return (address[8] & 0xFD) == 0 && address[9] == 0 && address[10] == 0x5E && (address[11] & 0xFF) == 0xFE;
    }

    private static boolean isMapped(byte[] address) {
        for (int i = 0; i < MAPPED.length; i++) if (address[i] != MAPPED[i]) return false;
        return true;
    }

    private static byte[] bytes(byte[] address, int first, int second, int third, int fourth) {
        return new byte[] {address[first], address[second], address[third], address[fourth]};
    }
}
