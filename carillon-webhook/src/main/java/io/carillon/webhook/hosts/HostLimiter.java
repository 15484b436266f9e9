package io.carillon.webhook.hosts;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * Limits the requests of this node to each host. A sender calls {@link #tryAcquire} before a request and {@link
 * Admission.Admitted#release} after it, or {@link Admission.Admitted#cancel} if it was not sent. Hosts that
 * are idle and healthy are not stored. Thread-safe.
 */
public final class HostLimiter {
    /** The result of {@link HostLimiter#tryAcquire}. */
    public sealed interface Admission {
        /** The request may start. The sender must call {@link #release} or {@link #cancel} when it has ended. */
        record Admitted(HostLimiter limiter, String host, boolean probe) implements Admission {
            /**
             * Ends the request.
             *
             * @param hostFailed whether the host failed
             * @param slowDown how long to send nothing to the host; zero for no pause
             */
            public void release(boolean hostFailed, Duration slowDown) {
                limiter.release(this, hostFailed, slowDown);
            }

            /** Ends a request that was not sent. It does not count for the breaker; a probe is still due. */
            public void cancel() {
                limiter.cancel(this);
            }
        }

        /** The request must not start; the sender tries again after {@code pause}. */
        record Deferred(Duration pause) implements Admission {}
    }

    /** The number of hosts from which unused entries are removed at each request. */
    private static final int CLEANUP_THRESHOLD = 10_000;

    private final HostLimits limits;
    private final LongSupplier nanos;
    private final ConcurrentHashMap<String, HostState> hosts = new ConcurrentHashMap<>();

    public HostLimiter(HostLimits limits) {
        this(limits, System::nanoTime);
    }

    HostLimiter(HostLimits limits, LongSupplier nanos) {
        this.limits = limits;
        this.nanos = nanos;
    }

    /** Decides whether a request to this host may start now. */
    public Admission tryAcquire(String host) {
        long now = nanos.getAsLong();
        if (hosts.size() >= CLEANUP_THRESHOLD)
            hosts.values().removeIf(state -> state.isRemovable(now) || state.isStale(now));
        Admission[] answer = new Admission[1];
        hosts.compute(host, (name, known) -> {
            HostState state = known == null ? new HostState(limits, now) : known;
            Duration pause = state.tryAcquire(now);
            answer[0] = pause.isZero()
                    ? new Admission.Admitted(this, host, state.isProbing())
                    : new Admission.Deferred(withJitter(pause));
            return state;
        });
        return answer[0];
    }

    private void release(Admission.Admitted admitted, boolean failed, Duration slowDown) {
        long now = nanos.getAsLong();
        hosts.computeIfPresent(admitted.host(), (name, state) -> {
            state.release(now, admitted.probe(), failed, slowDown);
            return state.isRemovable(now) ? null : state;
        });
    }

    private void cancel(Admission.Admitted admitted) {
        long now = nanos.getAsLong();
        hosts.computeIfPresent(admitted.host(), (name, state) -> {
            state.cancel(admitted.probe());
            return state.isRemovable(now) ? null : state;
        });
    }

    /** Returns the number of stored hosts. */
    int size() {
        return hosts.size();
    }

    /** Prevents that all requests that wait for a host return at the same moment. */
    private static Duration withJitter(Duration pause) {
        return pause.plusMillis(ThreadLocalRandom.current().nextLong(pause.toMillis() / 4 + 250));
    }
}
