package io.carillon.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Master keys by their ids. The first one seals, all of them open. What is sealed is encrypted (AES-256-GCM) with a key of its own, which is encrypted with the
 * master key; both are bound to a context, so that a sealed text opens only where it was put. Changing the master key rewrites the small part alone. Thread-safe.
 */
public final class Keyring {
    private static final String VERSION = "s1";
    private static final int NONCE = 12;
    private static final int TAG_BITS = 128;
    private static final int KEY_BYTES = 32;

    private final Map<String, SecretKey> keys;
    private final String current;
    private final SecureRandom random = new SecureRandom();

    private Keyring(Map<String, SecretKey> keys) {
        this.keys = keys;
        this.current = keys.keySet().iterator().next();
    }

    /** One AES key. */
    public static Keyring of(String id, SecretKey key) {
        return new Keyring(Map.of(checkId(id), key));
    }

    /** A line for each key, {@code id:base64 of 32 bytes}, the current one first; empty lines and those that start with # do not count. */
    public static Keyring parse(String lines) {
        Map<String, SecretKey> keys = new LinkedHashMap<>();
        lines.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .forEach(line -> {
                    int colon = line.indexOf(':');
                    if (colon < 1) throw unreadable("a line is not id:key");
                    String id = checkId(line.substring(0, colon));
                    if (keys.put(id, new SecretKeySpec(bytes(line.substring(colon + 1)), "AES")) != null)
                        throw unreadable("the id '" + id + "' is there twice");
                });
        if (keys.isEmpty()) throw unreadable("there is none");
        return new Keyring(keys);
    }

    /** The keys in a file, as {@link #parse} reads them; nobody else should be able to read it. */
    public static Keyring fromFile(Path file) {
        try {
            return parse(Files.readString(file));
        } catch (IOException failure) {
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The file of master keys '%s' cannot be read. Make it, or name another one.".formatted(file),
                    failure);
        }
    }

    /** The keys in an environment variable; commas may stand for line ends. */
    public static Keyring fromEnvironment(String variable) {
        String value = System.getenv(variable);
        if (value == null)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The environment has no variable '%s' with master keys. Set it, or use a file."
                            .formatted(variable));
        return parse(value.replace(',', '\n'));
    }

    /** A line with a new random key, for a file of keys. */
    public static String newKey(String id) {
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return checkId(id) + ':' + Base64.getEncoder().encodeToString(key);
    }

    /** Encrypts for this context, such as {@code project|table|row}. */
    public String seal(byte[] plain, String context) {
        byte[] own = new byte[KEY_BYTES];
        random.nextBytes(own);
        return joined(current, encrypt(master(current), own, context), encrypt(aes(own), plain, context));
    }

    /** The bytes; empty: another context, a key we do not have, or tampering. */
    public Optional<byte[]> open(String sealed, String context) {
        return Parts.of(sealed)
                .flatMap(parts -> own(parts, context).flatMap(own -> decrypt(aes(own), parts.content, context)));
    }

    /** The same content under the current key; empty: it cannot be opened. */
    public Optional<String> reseal(String sealed, String context) {
        return Parts.of(sealed)
                .flatMap(parts -> own(parts, context)
                        .map(own -> joined(current, encrypt(master(current), own, context), parts.content)));
    }

    /** Whether it was sealed with the current key. */
    public boolean isCurrent(String sealed) {
        return Parts.of(sealed).filter(parts -> parts.key.equals(current)).isPresent();
    }

    private Optional<byte[]> own(Parts parts, String context) {
        SecretKey key = keys.get(parts.key);
        return key == null ? Optional.empty() : decrypt(key, parts.own, context);
    }

    private SecretKey master(String id) {
        return java.util.Objects.requireNonNull(keys.get(id));
    }

    private static SecretKey aes(byte[] key) {
        return new SecretKeySpec(key, "AES");
    }

    private String encrypt(SecretKey key, byte[] plain, String context) {
        byte[] nonce = new byte[NONCE];
        random.nextBytes(nonce);
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, key, context, nonce).doFinal(plain);
            byte[] all = java.util.Arrays.copyOf(nonce, NONCE + sealed.length);
            System.arraycopy(sealed, 0, all, NONCE, sealed.length);
            return Base64.getUrlEncoder().withoutPadding().encodeToString(all);
        } catch (GeneralSecurityException unusable) {
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "A master key cannot encrypt. Give AES keys of 256 bits.", unusable);
        }
    }

    private static Optional<byte[]> decrypt(SecretKey key, String text, String context) {
        try {
            byte[] all = Base64.getUrlDecoder().decode(text);
            if (all.length < NONCE) return Optional.empty();
            byte[] nonce = java.util.Arrays.copyOf(all, NONCE);
            return Optional.of(
                    cipher(Cipher.DECRYPT_MODE, key, context, nonce).doFinal(all, NONCE, all.length - NONCE));
        } catch (GeneralSecurityException | IllegalArgumentException foreign) {
            return Optional.empty();
        }
    }

    private static Cipher cipher(int mode, SecretKey key, String context, byte[] nonce)
            throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(context.getBytes(UTF_8));
        return cipher;
    }

    private static String joined(String key, String own, String content) {
        return String.join("~", VERSION, key, own, content);
    }

    /** A sealed text, taken apart. */
    private record Parts(String key, String own, String content) {
        static Optional<Parts> of(String sealed) {
            String[] parts = sealed.split("~", -1);
            return parts.length == 4 && parts[0].equals(VERSION)
                    ? Optional.of(new Parts(parts[1], parts[2], parts[3]))
                    : Optional.empty();
        }
    }

    private static String checkId(String id) {
        return Names.check("key", id);
    }

    private static byte[] bytes(String base64) {
        try {
            byte[] key = Base64.getDecoder().decode(base64.strip());
            if (key.length == KEY_BYTES) return key;
        } catch (IllegalArgumentException malformed) {
            // Said below, without the text: it may be a key with a typing error.
        }
        throw unreadable("a key is not 32 bytes in base 64");
    }

    private static CarillonException unreadable(String why) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                "The master keys cannot be read: %s. Write a line for each, as Keyring.newKey(id) makes it."
                        .formatted(why));
    }

    @Override
    public String toString() {
        return "Keyring" + keys.keySet();
    }
}
