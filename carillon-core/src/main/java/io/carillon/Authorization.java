package io.carillon;

import io.carillon.run.Attempt;
import io.carillon.run.Companion;
import io.carillon.run.NewRun;
import io.carillon.run.Outcome;
import io.carillon.seal.Keyring;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.PublicId;
import io.carillon.value.WallClock;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * On whose behalf a run was enqueued: captured when it is enqueued, stored encrypted (AES-GCM, bound to the run's id, so that it cannot be moved to another),
 * valid for a while, and at hand for the handler by {@link #current()}. The runs of a schedule have that of whoever saved the schedule last, for as long after
 * that as it is valid. Give it to {@link CarillonBuilder#companion}. Thread-safe.
 */
public final class Authorization implements Companion {
    private static final String NAME = "authorization";

    private final Keyring keys;
    private final long validMillis;
    private final Supplier<@Nullable String> capture;
    private final ThreadLocal<@Nullable String> current = new ThreadLocal<>();

    /** {@code key}: an AES key that all processes share; {@code capture}: the caller's authorization, or null for none. */
    public Authorization(SecretKey key, Duration valid, Supplier<@Nullable String> capture) {
        this(Keyring.of(NAME, key), valid, capture);
    }

    /** The same with keys that can be changed one after the other. */
    public Authorization(Keyring keys, Duration valid, Supplier<@Nullable String> capture) {
        if (valid.isNegative() || valid.isZero())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "An authorization valid for %s is never valid. Choose longer.".formatted(valid));
        this.keys = keys;
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
        byte[] text = captured.getBytes(StandardCharsets.UTF_8);
        byte[] plain = ByteBuffer.allocate(8 + text.length)
                .putLong(WallClock.millis() + validMillis)
                .put(text)
                .array();
        return keys.seal(plain, owner);
    }

    /** Another key, another's text, or tampering: nobody's authorization. */
    private @Nullable String open(String owner, String sealed) {
        return keys.open(sealed, owner)
                .map(ByteBuffer::wrap)
                .flatMap(Authorization::stillValid)
                .orElse(null);
    }

    private static Optional<String> stillValid(ByteBuffer plain) {
        return plain.getLong() < WallClock.millis()
                ? Optional.empty()
                : Optional.of(StandardCharsets.UTF_8.decode(plain).toString());
    }
}
