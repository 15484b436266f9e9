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
 * A key as its holder has it: {@code crl_<id>_<secret>_<check>}. The prefix and the check let scanners of leaked secrets know one when they see it; the
 * secret has 190 random bits, so a plain SHA-256 of it is as good to keep as it is quick to compare.
 */
public record KeyText(String id, String secret) {
    private static final String ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    private static final int ID = 12;
    private static final int SECRET = 32;
    private static final int CHECK = 6;
    private static final Pattern FORM = Pattern.compile("crl_([0-9A-Za-z]{12})_([0-9A-Za-z]{32})_([0-9A-Za-z]{6})");
    private static final SecureRandom RANDOM = new SecureRandom();

    /** A new one. */
    public static KeyText fresh() {
        return new KeyText(random(ID), random(SECRET));
    }

    /** Reads one back; empty if it is none, or was misspelt. */
    public static Optional<KeyText> parse(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) return Optional.empty();
        KeyText key = new KeyText(form.group(1), form.group(2));
        return key.check().equals(form.group(3)) ? Optional.of(key) : Optional.empty();
    }

    /** What is shown once and never again. */
    public String text() {
        return "crl_" + id + "_" + secret + "_" + check();
    }

    /** What is kept of it. */
    public byte[] hash() {
        try {
            return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.US_ASCII));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has SHA-256", impossible);
        }
    }

    @Override
    public String toString() {
        return "crl_" + id + "_…";
    }

    private String check() {
        CRC32 crc = new CRC32();
        crc.update(("crl_" + id + "_" + secret).getBytes(StandardCharsets.US_ASCII));
        char[] text = new char[CHECK];
        long rest = crc.getValue();
        for (int i = CHECK - 1; i >= 0; i--) {
            text[i] = ALPHABET.charAt((int) (rest % ALPHABET.length()));
            rest /= ALPHABET.length();
        }
        return new String(text);
    }

    private static String random(int length) {
        StringBuilder text = new StringBuilder(length);
        for (int i = 0; i < length; i++) text.append(ALPHABET.charAt(RANDOM.nextInt(ALPHABET.length())));
        return text.toString();
    }
}
