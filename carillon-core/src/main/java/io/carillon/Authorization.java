package io.carillon;

import io.carillon.run.Attempt;
import io.carillon.run.Companion;
import io.carillon.run.NewRun;
import io.carillon.run.Outcome;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.PublicId;
import io.carillon.value.WallClock;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import org.jspecify.annotations.Nullable;

/**
 * On whose behalf a run was enqueued: captured when it is enqueued, stored encrypted (AES-GCM, bound to the run's id, so that it cannot be moved to another),
 * valid for a while, and at hand for the handler by {@link #current()}. The runs of a schedule have that of whoever saved the schedule last, for as long after
 * that as it is valid. Give it to {@link CarillonBuilder#companion}. Thread-safe.
 */
public final class Authorization implements Companion {
    private static final String NAME = "authorization";
    private static final int NONCE = 12;
    private static final int TAG_BITS = 128;

    private final SecretKey key;
    private final long validMillis;
    private final Supplier<@Nullable String> capture;
    private final SecureRandom random = new SecureRandom();
    private final ThreadLocal<@Nullable String> current = new ThreadLocal<>();

    /** {@code key}: an AES key that all processes share; {@code capture}: the caller's authorization, or null for none. */
    public Authorization(SecretKey key, Duration valid, Supplier<@Nullable String> capture) {
        if (valid.isNegative() || valid.isZero())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "An authorization valid for %s is never valid. Choose longer.".formatted(valid));
        this.key = key;
        this.validMillis = valid.toMillis();
        this.capture = capture;
    }

    /** Inside a handler: the authorization its run was enqueued, or its schedule saved, with; empty if there was none, it is over, or it cannot be read with this key. */
    public Optional<String> current() {
        return Optional.ofNullable(current.get());
    }

    @Override
    public Map<String, String> pack(NewRun run) {
        String captured = capture.get();
        return captured == null ? Map.of() : Map.of(NAME, seal(run.id().toString(), captured));
    }

    @Override
    public Map<String, String> packSchedule(UUID schedule) {
        String captured = capture.get();
        return captured == null ? Map.of() : Map.of(NAME, seal(bound(schedule), captured));
    }

    private static String bound(UUID schedule) {
        return PublicId.format("sched", schedule);
    }

    @Override
    public Outcome unpack(Attempt attempt, Map<String, String> packed, Rest rest) throws Exception {
        String sealed = packed.get(NAME);
        UUID schedule = attempt.link() == null ? null : attempt.link().schedule();
        String owner = schedule == null ? attempt.run().toString() : bound(schedule);
        current.set(sealed == null ? null : open(owner, sealed));
        try {
            return rest.run();
        } finally {
            current.remove();
        }
    }

    private String seal(String owner, String captured) {
        byte[] nonce = new byte[NONCE];
        random.nextBytes(nonce);
        byte[] text = captured.getBytes(StandardCharsets.UTF_8);
        byte[] plain = ByteBuffer.allocate(8 + text.length)
                .putLong(WallClock.millis() + validMillis)
                .put(text)
                .array();
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, owner, nonce).doFinal(plain);
            return Base64.getUrlEncoder()
                    .withoutPadding()
                    .encodeToString(ByteBuffer.allocate(NONCE + sealed.length)
                            .put(nonce)
                            .put(sealed)
                            .array());
        } catch (GeneralSecurityException unusable) {
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The authorization could not be encrypted: %s. Give an AES key of 128 or 256 bits."
                            .formatted(unusable.getMessage()),
                    unusable);
        }
    }

    private @Nullable String open(String owner, String sealed) {
        try {
            ByteBuffer all = ByteBuffer.wrap(Base64.getUrlDecoder().decode(sealed));
            byte[] nonce = new byte[NONCE];
            all.get(nonce);
            byte[] rest = new byte[all.remaining()];
            all.get(rest);
            ByteBuffer plain =
                    ByteBuffer.wrap(cipher(Cipher.DECRYPT_MODE, owner, nonce).doFinal(rest));
            if (plain.getLong() < WallClock.millis()) return null;
            return StandardCharsets.UTF_8.decode(plain).toString();
        } catch (GeneralSecurityException | RuntimeException foreign) {
            // Another key, another's text, or tampering: nobody's authorization.
            return null;
        }
    }

    private Cipher cipher(int mode, String owner, byte[] nonce) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(owner.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }
}
