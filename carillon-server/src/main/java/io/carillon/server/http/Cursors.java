package io.carillon.server.http;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signed cursors of lists. A cursor that was forged or changed, or belongs to another list or project, is rejected. All
 * nodes share the secret.
 */
public final class Cursors {
    private static final int MAC_BYTES = 16;

    private final SecretKeySpec secret;

    public Cursors(byte[] secret) {
        this.secret = new SecretKeySpec(secret, "HmacSHA256");
    }

    /** Returns the cursor of the page that follows this last item of the requested list. */
    public String cursorAfter(ApiRequest request, String last) {
        byte[] text = last.getBytes(StandardCharsets.UTF_8);
        byte[] signed = Arrays.copyOf(text, text.length + MAC_BYTES);
        System.arraycopy(mac(request, text), 0, signed, text.length, MAC_BYTES);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(signed);
    }

    /** Returns the last item of the previous page; empty if the request has no cursor. */
    public Optional<String> lastItem(ApiRequest request) {
        return request.query("cursor").map(cursor -> {
            byte[] signed = decode(cursor);
            int length = signed.length - MAC_BYTES;
            byte[] text = Arrays.copyOf(signed, Math.max(0, length));
            if (length < 1
                    || !MessageDigest.isEqual(
                            mac(request, text), Arrays.copyOfRange(signed, length, length + MAC_BYTES)))
                throw malformed();
            return new String(text, StandardCharsets.UTF_8);
        });
    }

    private static byte[] decode(String cursor) {
        try {
            return Base64.getUrlDecoder().decode(cursor);
        } catch (IllegalArgumentException other) {
            throw malformed();
        }
    }

    /** Includes the list in the signature: its project, path and filters. */
    private byte[] mac(ApiRequest request, byte[] text) {
        StringBuilder list =
                new StringBuilder(request.caller().project()).append('\n').append(request.requestedPath());
        request.route().queryParameters().stream()
                .filter(name -> !name.equals("cursor") && !name.equals("limit"))
                .sorted()
                .forEach(name -> list.append('\n')
                        .append(name)
                        .append('=')
                        .append(request.query(name).orElse("")));
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(secret);
            mac.update(list.toString().getBytes(StandardCharsets.UTF_8));
            mac.update((byte) 0);
            return Arrays.copyOf(mac.doFinal(text), MAC_BYTES);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("HmacSHA256 is missing in this JDK", impossible);
        }
    }

    private static Problem malformed() {
        return Problem.of(
                400,
                "malformed-cursor",
                "Invalid cursor. Use \"next\" of the previous page, with the same path and filters.");
    }
}
