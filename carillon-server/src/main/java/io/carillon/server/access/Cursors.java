package io.carillon.server.access;

import io.carillon.server.cipher.AesGcm;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.Problem;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypted cursors of lists: a cursor does not show the last item of its page, which may be hidden from the caller. A
 * cursor that was forged or changed, or belongs to another list or project, is rejected. All nodes share the secret.
 */
public final class Cursors {
    private final SecretKeySpec secret;
    private final SecretKey encryptionKey;

    public Cursors(byte[] secret) {
        this.secret = new SecretKeySpec(secret, "HmacSHA256");
        this.encryptionKey = new SecretKeySpec(mac("encryption"), "AES");
    }

    /** Returns the cursor of the page that follows this last item of the requested list. */
    public String cursorAfter(ApiRequest request, String last) {
        return seal(list(request), last);
    }

    /** Returns a position in the events of the caller's project, which every list and tail of them accepts. */
    public String eventPosition(ApiRequest request, String position) {
        return seal(events(request), position);
    }

    /** Returns the position that {@link #eventPosition} has encrypted. */
    public String openEventPosition(ApiRequest request, String text) {
        return open(events(request), text)
                .orElseThrow(() -> Problem.of(
                        400,
                        "malformed-cursor",
                        "Invalid position of events. Use \"next\" of a list of events of this project, or the id of a"
                                + " message of a tail."));
    }

    private static String events(ApiRequest request) {
        return request.caller().project() + "\nevents";
    }

    private String seal(String list, String last) {
        // The nonce depends on the content, so that equal pages have equal cursors and no nonce is used for two items.
        byte[] nonce = Arrays.copyOf(mac(list + '\0' + last), AesGcm.NONCE_BYTES);
        byte[] sealed = AesGcm.seal(encryptionKey, nonce, list, last.getBytes(StandardCharsets.UTF_8));
        return Base64.getUrlEncoder().withoutPadding().encodeToString(sealed);
    }

    /** Returns the last item of the previous page; empty if the request has no cursor. */
    public Optional<String> lastItem(ApiRequest request) {
        return request.query("cursor").map(cursor -> open(list(request), cursor).orElseThrow(Cursors::malformed));
    }

    private Optional<String> open(String list, String cursor) {
        try {
            return AesGcm.open(encryptionKey, list, Base64.getUrlDecoder().decode(cursor))
                    .map(last -> new String(last, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException other) {
            return Optional.empty();
        }
    }

    /** Returns the list that a cursor belongs to: its project, path and filters. */
    private static String list(ApiRequest request) {
        StringBuilder list =
                new StringBuilder(request.caller().project()).append('\n').append(request.requestedPath());
        request.route().queryParameters().stream()
                .filter(name -> !name.equals("cursor") && !name.equals("limit"))
                .sorted()
                .forEach(name -> list.append('\n')
                        .append(name)
                        .append('=')
                        .append(request.query(name).orElse("")));
        return list.toString();
    }

    private byte[] mac(String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(secret);
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
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
