package io.carillon.internal.value;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.util.UUID;

/**
 * The text form of public ids: a type prefix and 26 characters of Crockford's base 32 for the 128 bits of a UUID.
 * Formatting and parsing are lossless.
 */
public final class PublicId {
    private static final String ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
    private static final int LENGTH = 26;

    private PublicId() {}

    /** Returns the text of an id, such as {@code run_01hzy...}. */
    public static String format(String prefix, UUID id) {
        char[] text = new char[LENGTH];
        long high = id.getMostSignificantBits();
        long low = id.getLeastSignificantBits();
        for (int i = LENGTH - 1; i >= 0; i--) {
            text[i] = ALPHABET.charAt((int) (low & 31));
            low = low >>> 5 | high << 59;
            high >>>= 5;
        }
        return prefix + '_' + new String(text);
    }

    /** Returns the text of the id of a node, as logs, REST and the command show it. */
    public static String ofNode(UUID id) {
        return format("nod", id);
    }

    /** Parses an id. Rejects another prefix, another length and other characters. */
    public static UUID parse(String prefix, String text) {
        String start = prefix + '_';
        if (text.length() != start.length() + LENGTH || !text.startsWith(start)) throw malformed(prefix, text);
        String digits = text.substring(start.length());
        if (digit(digits.charAt(0)) > 7) throw malformed(prefix, text);
        long high = 0;
        long low = 0;
        for (int i = 0; i < LENGTH; i++) {
            int digit = digit(digits.charAt(i));
            if (digit < 0) throw malformed(prefix, text);
            high = high << 5 | low >>> 59;
            low = low << 5 | digit;
        }
        return new UUID(high, low);
    }

    /**
     * Returns the value of a digit, or -1. Converts ASCII letters only: {@code toLowerCase} would map the Kelvin sign
     * to k.
     */
    private static int digit(char c) {
        return ALPHABET.indexOf(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }

    private static CarillonException malformed(String prefix, String text) {
        String shown = text.length() > 60 ? text.substring(0, 60) + "…" : text;
        return new CarillonException(
                ErrorCode.MALFORMED_ID,
                "'%s' is not a valid id. An id is %s_ followed by %d characters; copy it exactly as it was returned."
                        .formatted(TextCleaner.clean(shown), prefix, LENGTH));
    }
}
