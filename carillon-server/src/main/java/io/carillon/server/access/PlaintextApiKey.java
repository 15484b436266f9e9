package io.carillon.server.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * An API key in plaintext: {@code crl_<id>_<secret>_<checksum>}. Scanners for leaked secrets recognize a key by
 * its prefix and checksum. The secret has 190 random bits, so an unsalted SHA-256 hash is safe to store and
 * fast to compare.
 */
public record PlaintextApiKey(String id, String secret) {
    private static final String ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    static final int ID_LENGTH = 12;
    static final int SECRET_LENGTH = 32;
    private static final int CHECKSUM_LENGTH = 6;
    private static final Pattern FORMAT = Pattern.compile("crl_([0-9A-Za-z]{12})_([0-9A-Za-z]{32})_([0-9A-Za-z]{6})");
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Parses a key; empty if the text is not a key or its checksum is wrong. */
    public static Optional<PlaintextApiKey> parse(String text) {
        Matcher form = FORMAT.matcher(text);
        if (!form.matches()) return Optional.empty();
        PlaintextApiKey key = new PlaintextApiKey(form.group(1), form.group(2));
        return key.checksum().equals(form.group(3)) ? Optional.of(key) : Optional.empty();
    }

    /** Returns the full key, including its secret. It is shown once, when the key is created. */
    public String text() {
        return "crl_" + id + "_" + secret + "_" + checksum();
    }

    /** Returns the hash that the server stores. */
    public byte[] hash() {
        try {
            return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.US_ASCII));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("SHA-256 is missing in this JDK", impossible);
        }
    }

    @Override
    public String toString() {
        return "crl_" + id + "_…";
    }

    private String checksum() {
        CRC32 crc = new CRC32();
        crc.update(("crl_" + id + "_" + secret).getBytes(StandardCharsets.US_ASCII));
        return inAlphabet(crc.getValue(), CHECKSUM_LENGTH);
    }

    /** Returns the last digits of a number that is not negative, written with the characters of keys. */
    static String inAlphabet(long number, int length) {
        char[] text = new char[length];
        long rest = number;
        for (int i = length - 1; i >= 0; i--) {
            text[i] = ALPHABET.charAt((int) (rest % ALPHABET.length()));
            rest /= ALPHABET.length();
        }
        return new String(text);
    }

    static String random(int length) {
        StringBuilder text = new StringBuilder(length);
        for (int i = 0; i < length; i++) text.append(ALPHABET.charAt(RANDOM.nextInt(ALPHABET.length())));
        return text.toString();
    }
}
