package io.carillon.spi;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import io.carillon.internal.value.PrivateFiles;
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
 * Master keys by id. The first key encrypts, all keys decrypt. Each text is encrypted (AES-256-GCM) with its own data
 * key, which is encrypted with the master key. Both are bound to a context, so that an encrypted text can be decrypted
 * only in the place it was written for. After a change of the master key, only the small encrypted data key is written
 * again. Thread-safe.
 */
public final class Keyring {
    private static final String VERSION = "s1";
    private static final int NONCE = 12;
    private static final int TAG_BITS = 128;
    private static final int KEY_BYTES = 32;

    private final Map<String, SecretKey> keys;
    private final String currentId;
    private final SecureRandom random = new SecureRandom();

    private Keyring(Map<String, SecretKey> keys) {
        this.keys = keys;
        this.currentId = keys.keySet().iterator().next();
    }

    /** Returns a keyring with one AES key. */
    public static Keyring of(String id, SecretKey key) {
        return new Keyring(Map.of(checkId(id), key));
    }

    /**
     * Parses one key per line, {@code id:base64 of 32 bytes}, the current key first. Empty lines and lines that start
     * with # are ignored.
     */
    public static Keyring parse(String lines) {
        Map<String, SecretKey> keys = new LinkedHashMap<>();
        lines.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .forEach(line -> {
                    int colon = line.indexOf(':');
                    if (colon < 1) throw unreadable("a line is not in the form id:key");
                    String id = checkId(line.substring(0, colon));
                    if (keys.put(id, new SecretKeySpec(decodeKey(line.substring(colon + 1)), "AES")) != null)
                        throw unreadable("the id '" + id + "' is used twice");
                });
        if (keys.isEmpty()) throw unreadable("there is no key");
        return new Keyring(keys);
    }

    /**
     * Reads the keys from a file in the format of {@link #parse}. A file that other users can read or write is refused;
     * the group may read a file of root.
     */
    public static Keyring fromFile(Path file) {
        try {
            if (PrivateFiles.isOpenToOthers(file))
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        ("Other users can access the master key file '%s'. Run 'chmod 600 %s', and change the keys if "
                                        + "another user may have read them.")
                                .formatted(file, file));
            return parse(Files.readString(file));
        } catch (IOException failure) {
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Cannot read the master key file '%s'. Create it, or configure another file.".formatted(file),
                    failure);
        }
    }

    /** Reads the keys from an environment variable, in the format of {@link #parse}; commas may replace line ends. */
    public static Keyring fromEnvironment(String variable) {
        String value = System.getenv(variable);
        if (value == null)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The environment variable '%s' for the master keys is not set. Set it, or use a file."
                            .formatted(variable));
        return parse(value.replace(',', '\n'));
    }

    /** Returns a line with a new random key, for a key file. */
    public static String newKey(String id) {
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return checkId(id) + ':' + Base64.getEncoder().encodeToString(key);
    }

    /** Encrypts bytes for this context, such as {@code project|table|row}. */
    public String seal(byte[] plain, String context) {
        byte[] dataKey = new byte[KEY_BYTES];
        random.nextBytes(dataKey);
        return join(currentId, encrypt(master(currentId), dataKey, context), encrypt(aes(dataKey), plain, context));
    }

    /** Decrypts a text. Returns empty if the context differs, the key is unknown, or the text was changed. */
    public Optional<byte[]> open(String sealed, String context) {
        return SealedParts.of(sealed)
                .flatMap(sealedParts -> unwrapDataKey(sealedParts, context)
                        .flatMap(dataKey -> decrypt(aes(dataKey), sealedParts.content, context)));
    }

    /** Returns the same content encrypted under the current key, or empty if it cannot be decrypted. */
    public Optional<String> reseal(String sealed, String context) {
        return SealedParts.of(sealed)
                .flatMap(sealedParts -> unwrapDataKey(sealedParts, context)
                        .map(dataKey ->
                                join(currentId, encrypt(master(currentId), dataKey, context), sealedParts.content)));
    }

    /** Returns whether the text was encrypted with the current key. */
    public boolean isCurrent(String sealed) {
        return SealedParts.of(sealed)
                .filter(sealedParts -> sealedParts.keyId.equals(currentId))
                .isPresent();
    }

    private Optional<byte[]> unwrapDataKey(SealedParts sealedParts, String context) {
        SecretKey key = keys.get(sealedParts.keyId);
        return key == null ? Optional.empty() : decrypt(key, sealedParts.wrappedKey, context);
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
                    ErrorCode.INVALID_OPTION, "Cannot encrypt with the master key. Use 256-bit AES keys.", unusable);
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

    private static String join(String keyId, String wrappedKey, String content) {
        return String.join("~", VERSION, keyId, wrappedKey, content);
    }

    /** The parts of an encrypted text. */
    private record SealedParts(String keyId, String wrappedKey, String content) {
        static Optional<SealedParts> of(String sealed) {
            String[] parts = sealed.split("~", -1);
            return parts.length == 4 && parts[0].equals(VERSION)
                    ? Optional.of(new SealedParts(parts[1], parts[2], parts[3]))
                    : Optional.empty();
        }
    }

    private static String checkId(String id) {
        return Names.check("key", id);
    }

    private static byte[] decodeKey(String base64) {
        try {
            byte[] key = Base64.getDecoder().decode(base64.strip());
            if (key.length == KEY_BYTES) return key;
        } catch (IllegalArgumentException malformed) {
            // The error below does not contain the text, because it may be a key with a typing error.
        }
        throw unreadable("a key is not 32 bytes in base64");
    }

    private static CarillonException unreadable(String why) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                "Cannot read the master keys: %s. Write one line per key; Keyring.newKey(id) generates one."
                        .formatted(why));
    }

    @Override
    public String toString() {
        return "Keyring" + keys.keySet();
    }
}
