package io.carillon.webhook.guard;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Text;
import java.net.InetAddress;
import java.util.Optional;

/** A range of addresses: those that share its leading bits. Ranges of IPv4 and IPv6 never meet. */
final class Cidr {
    private final byte[] prefix;
    private final int bits;

    private Cidr(byte[] prefix, int bits) {
        this.prefix = prefix;
        this.bits = bits;
    }

    /** Reads {@code 10.0.0.0/8}, {@code fd00::/8}, or a single address. */
    static Cidr parse(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        byte[] bytes = Literals.any(address).map(InetAddress::getAddress).orElseThrow(() -> malformed(text));
        int most = bytes.length * 8;
        if (slash < 0) return new Cidr(bytes, most);
        String count = text.substring(slash + 1);
        if (!count.matches("\\d{1,3}") || Integer.parseInt(count) > most) throw malformed(text);
        return new Cidr(bytes, Integer.parseInt(count));
    }

    /** Whether the text is meant as a range or an address, and not as a host. */
    static boolean looksLikeOne(String text) {
        return text.indexOf('/') >= 0 || Literals.any(text).isPresent();
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
                "'%s' is no range of addresses. Write one like 10.0.0.0/8, fd00::/8 or 192.0.2.7."
                        .formatted(Text.clean(text, 60)));
    }

    /** Addresses written as text, in their one canonical form. Never asks a name server. */
    static final class Literals {
        private Literals() {}

        static Optional<InetAddress> any(String text) {
            return text.indexOf(':') >= 0 ? six(text) : four(text);
        }

        /** Four decimal numbers without leading zeros: what other readers would take for octal is refused. */
        static Optional<InetAddress> four(String text) {
            String[] parts = text.split("\\.", -1);
            if (parts.length != 4) return Optional.empty();
            byte[] bytes = new byte[4];
            for (int i = 0; i < 4; i++) {
                if (!parts[i].matches("0|[1-9][0-9]{0,2}") || Integer.parseInt(parts[i]) > 255) return Optional.empty();
                bytes[i] = (byte) Integer.parseInt(parts[i]);
            }
            return address(bytes);
        }

        /** Without brackets and without a zone. */
        static Optional<InetAddress> six(String text) {
            if (!text.matches("[0-9a-fA-F:.]{2,45}")) return Optional.empty();
            try {
                // In brackets the JDK takes it for an address or fails; it cannot become a name.
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
