package io.carillon.server.http;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Marks of where a list goes on, signed: one that was made up, changed or made for another list or project is refused. All nodes share the secret. */
public final class Cursors {
    private static final int MAC = 16;

    private final SecretKeySpec secret;

    public Cursors(byte[] secret) {
        this.secret = new SecretKeySpec(secret, "HmacSHA256");
    }

    /** The mark behind this last item of the list a call asked for. */
    public String behind(Call call, String last) {
        byte[] text = last.getBytes(StandardCharsets.UTF_8);
        byte[] signed = Arrays.copyOf(text, text.length + MAC);
        System.arraycopy(mac(call, text), 0, signed, text.length, MAC);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(signed);
    }

    /** The last item of the page before, if this call is for a later one. */
    public Optional<String> read(Call call) {
        return call.query("cursor").map(cursor -> {
            byte[] signed = decoded(cursor);
            int length = signed.length - MAC;
            byte[] text = Arrays.copyOf(signed, Math.max(0, length));
            if (length < 1 || !MessageDigest.isEqual(mac(call, text), Arrays.copyOfRange(signed, length, length + MAC)))
                throw malformed();
            return new String(text, StandardCharsets.UTF_8);
        });
    }

    private static byte[] decoded(String cursor) {
        try {
            return Base64.getUrlDecoder().decode(cursor);
        } catch (IllegalArgumentException other) {
            throw malformed();
        }
    }

    /** Over the list as well: its path, its filters and whose it is. */
    private byte[] mac(Call call, byte[] text) {
        StringBuilder list =
                new StringBuilder(call.caller().project()).append('\n').append(call.target());
        call.route().query().stream()
                .filter(name -> !name.equals("cursor") && !name.equals("limit"))
                .sorted()
                .forEach(name -> list.append('\n')
                        .append(name)
                        .append('=')
                        .append(call.query(name).orElse("")));
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(secret);
            mac.update(list.toString().getBytes(StandardCharsets.UTF_8));
            mac.update((byte) 0);
            return Arrays.copyOf(mac.doFinal(text), MAC);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java has HmacSHA256", impossible);
        }
    }

    private static Problem malformed() {
        return Problem.of(
                400,
                "malformed-cursor",
                "This cursor belongs to no list. Take it from 'next' of the page before, with the same filters.");
    }
}
