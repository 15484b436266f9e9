package io.carillon.webhook.guard;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.TextCleaner;
import java.net.InetAddress;
import java.util.Optional;

/** A range of addresses with the same leading bits (CIDR). A range contains either IPv4 or IPv6 addresses. */
final class Cidr {
    private final byte[] prefix;
    private final int bits;

    private Cidr(byte[] prefix, int bits) {
        this.prefix = prefix;
        this.bits = bits;
    }

    /** Parses {@code 10.0.0.0/8}, {@code fd00::/8} or a single address. */
    static Cidr parse(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        byte[] bytes = IpLiterals.parse(address).map(InetAddress::getAddress).orElseThrow(() -> malformed(text));
        int most = bytes.length * 8;
        if (slash < 0) return new Cidr(bytes, most);
        String count = text.substring(slash + 1);
        if (!count.matches("\\d{1,3}") || Integer.parseInt(count) > most) throw malformed(text);
        return new Cidr(bytes, Integer.parseInt(count));
    }

    /** Returns whether the text is a range or an address rather than a host name. */
    static boolean isAddressOrRange(String text) {
        return text.indexOf('/') >= 0 || IpLiterals.parse(text).isPresent();
    }

    boolean contains(byte[] address) {
        if (address.length != prefix.length) return false;
        for (int bit = 0; bit < bits; bit += 8) {
            int mask = bits - bit >= 8 ? 0xFF : 0xFF << (8 - (bits - bit)) & 0xFF;
            if (((address[bit / 8] ^ prefix[bit / 8]) & mask) != 0) return false;
        }
        return true;
    }

    private static CarillonException malformed(String text) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                "Invalid address range \"%s\". Use a range or address such as 10.0.0.0/8, fd00::/8 or 192.0.2.7."
                        .formatted(TextCleaner.clean(text, 60)));
    }

    /** Parses IP addresses in their canonical text form. Never queries DNS. */
    static final class IpLiterals {
        private IpLiterals() {}

        static Optional<InetAddress> parse(String text) {
            return text.indexOf(':') >= 0 ? parseIpv6(text) : parseIpv4(text);
        }

        /**
         * Parses four decimal numbers without leading zeros. Leading zeros are rejected because other parsers read them
         * as octal.
         */
        static Optional<InetAddress> parseIpv4(String text) {
            String[] parts = text.split("\\.", -1);
            if (parts.length != 4) return Optional.empty();
            byte[] bytes = new byte[4];
            for (int i = 0; i < 4; i++) {
                if (!parts[i].matches("0|[1-9][0-9]{0,2}") || Integer.parseInt(parts[i]) > 255) return Optional.empty();
                bytes[i] = (byte) Integer.parseInt(parts[i]);
            }
            return address(bytes);
        }

        /** Parses an IPv6 address without brackets and zone. */
        static Optional<InetAddress> parseIpv6(String text) {
            if (!text.matches("[0-9a-fA-F:.]{2,45}")) return Optional.empty();
            try {
                // The JDK parses text in brackets as an address or fails; it never resolves it as a name.
                return Optional.of(InetAddress.getByName("[" + text + "]"));
            } catch (java.net.UnknownHostException malformed) {
                return Optional.empty();
            }
        }

        private static Optional<InetAddress> address(byte[] bytes) {
            try {
                return Optional.of(InetAddress.getByAddress(bytes));
            } catch (java.net.UnknownHostException impossible) {
                return Optional.empty();
            }
        }
    }
}
