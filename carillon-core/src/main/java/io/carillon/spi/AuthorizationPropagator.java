package io.carillon.spi;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.WallClock;
import io.carillon.run.Outcome;
import io.carillon.schedule.ScheduleId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * Carries the caller's authorization from the enqueue to the handler.
 *
 * <p>The authorization is captured when a run is enqueued, and stored encrypted with AES-GCM. The encryption is bound
 * to the id of the run, so that a stored authorization is unreadable in any other run. It expires after a configured
 * time. A handler reads it with {@link #current()}.
 *
 * <p>Runs of a schedule use the authorization of the caller that saved the schedule last. Its validity starts when the
 * schedule is saved.
 *
 * <p>Register an instance with {@code CarillonBuilder.contextPropagator}. Thread-safe.
 */
public final class AuthorizationPropagator implements ContextPropagator {
    private static final String NAME = "authorization";

    private final Keyring keys;
    private final long validMillis;
    private final Supplier<@Nullable String> capture;
    private final ThreadLocal<@Nullable String> current = new ThreadLocal<>();

    /**
     * Creates a propagator with a single key.
     *
     * @param key an AES key that all processes share
     * @param valid how long a captured authorization is valid; must be positive
     * @param capture returns the authorization of the calling thread; null if there is none
     */
    public AuthorizationPropagator(SecretKey key, Duration valid, Supplier<@Nullable String> capture) {
        this(Keyring.of(NAME, key), valid, capture);
    }

    /** Creates a propagator with a keyring, which allows key rotation. */
    public AuthorizationPropagator(Keyring keys, Duration valid, Supplier<@Nullable String> capture) {
        if (valid.isNegative() || valid.isZero())
            throw new CarillonException(ErrorCode.INVALID_OPTION, "valid must be positive (was %s).".formatted(valid));
        this.keys = keys;
        this.validMillis = valid.toMillis();
        this.capture = capture;
    }

    /**
     * Returns, inside a handler, the authorization with which the run was enqueued or its schedule was saved. Empty if
     * there was none, if it expired, or if it cannot be decrypted with these keys.
     */
    public Optional<String> current() {
        return Optional.ofNullable(current.get());
    }

    @Override
    public Map<String, String> capture(RunInfo run) {
        String captured = capture.get();
        return captured == null ? Map.of() : Map.of(NAME, seal(run.id().toString(), captured));
    }

    @Override
    public Map<String, String> captureForSchedule(ScheduleId schedule) {
        String captured = capture.get();
        return captured == null ? Map.of() : Map.of(NAME, seal(schedule.toString(), captured));
    }

    @Override
    public Outcome runWithContext(RunInfo run, Map<String, String> headers, AttemptCall attemptCall) throws Exception {
        String sealed = headers.get(NAME);
        ScheduleId schedule = run.schedule();
        String owner = schedule == null ? run.id().toString() : schedule.toString();
        current.set(sealed == null ? null : open(owner, sealed));
        try {
            return attemptCall.call();
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

    /**
     * Returns null if the text was encrypted with another key, belongs to another run or schedule, was
     * altered, or expired.
     */
    private @Nullable String open(String owner, String sealed) {
        return keys.open(sealed, owner)
                .map(ByteBuffer::wrap)
                .flatMap(AuthorizationPropagator::stillValid)
                .orElse(null);
    }

    private static Optional<String> stillValid(ByteBuffer plain) {
        return plain.getLong() < WallClock.millis()
                ? Optional.empty()
                : Optional.of(StandardCharsets.UTF_8.decode(plain).toString());
    }
}
