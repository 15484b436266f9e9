package io.carillon.server.access;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;

/** A range of IP addresses with the same leading bits, such as {@code 10.0.0.0/8}, or a single address. */
public final class AddressRange {
    private static final Pattern IPV4 = Pattern.compile("(0|[1-9]\\d{0,2})(\\.(0|[1-9]\\d{0,2})){3}");
    private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.]{2,45}");
    private static final Pattern BITS = Pattern.compile("0|[1-9]\\d{0,2}");

    private final byte[] prefix;
    private final int bits;

    private AddressRange(byte[] prefix, int bits) {
        this.prefix = prefix;
        this.bits = bits;
    }

    /** Parses a range or an address; empty if the text is neither. Never asks DNS. */
    public static Optional<AddressRange> parse(String text) {
        int slash = text.indexOf('/');
        Optional<byte[]> address = bytes(slash < 0 ? text : text.substring(0, slash));
        if (address.isEmpty()) return Optional.empty();
        int most = address.get().length * 8;
        if (slash < 0) return Optional.of(new AddressRange(address.get(), most));
        String count = text.substring(slash + 1);
        if (!BITS.matcher(count).matches() || Integer.parseInt(count) > most) return Optional.empty();
        return Optional.of(new AddressRange(address.get(), Integer.parseInt(count)));
    }

    /** Returns whether the range contains this IP address. */
    boolean contains(String address) {
        return bytes(ClientNetwork.plain(address)).filter(this::contains).isPresent();
    }

    /** Returns whether this range contains the whole other range. */
    public boolean contains(AddressRange other) {
        return bits <= other.bits && contains(other.prefix);
    }

    private boolean contains(byte[] address) {
        if (address.length != prefix.length) return false;
        for (int bit = 0; bit < bits; bit++)
            if (((address[bit / 8] ^ prefix[bit / 8]) & 0x80 >> bit % 8) != 0) return false;
        return true;
    }

    /** Returns the bytes of an address. An IPv4 address in IPv6 form is an IPv4 address. */
    static Optional<byte[]> bytes(String address) {
        boolean ipv6 = address.indexOf(':') >= 0;
        if (!(ipv6 ? IPV6 : IPV4).matcher(address).matches()) return Optional.empty();
        try {
            return Optional.of(
                    InetAddress.getByName(ipv6 ? "[" + address + "]" : address).getAddress());
        } catch (UnknownHostException malformed) {
            return Optional.empty();
        }
    }
}
