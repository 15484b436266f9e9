package io.carillon.webhook.hosts;

import io.carillon.internal.value.ControlCharacters;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the requests of this node to each host, and has the breakers of hosts. A sender calls {@link #tryAcquire}
 * before a request and {@link Admission.Admitted#release} after it, or {@link Admission.Admitted#cancel} if it was not
 * sent. Hosts that are idle and healthy are not stored. Thread-safe.
 */
public final class HostLimiter {
    private static final Logger log = LoggerFactory.getLogger(HostLimiter.class);

    /** The result of {@link HostLimiter#tryAcquire}. */
    public sealed interface Admission {
        /**
         * The request may start. The sender must call {@link #release} or {@link #cancel} when it has ended.
         *
         * @param withBreaker whether the result of the request counts for the breaker of the host
         */
        record Admitted(HostLimiter limiter, ProjectHost host, boolean withBreaker, boolean probe)
                implements Admission {
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
        record Deferred(String reason, Duration pause) implements Admission {}
    }

    /** The number of hosts from which unused entries are removed. */
    private static final int CLEANUP_THRESHOLD = 10_000;

    /** A removal visits all hosts, so that it must not happen at each request of a project with very many hosts. */
    private static final long CLEANUP_INTERVAL = Duration.ofSeconds(1).toNanos();

    private final HostLimits limits;
    private final LongSupplier nanos;
    private final ConcurrentHashMap<ProjectHost, HostState> hosts = new ConcurrentHashMap<>();
    private final AtomicLong cleanedAt;

    public HostLimiter(HostLimits limits) {
        this(limits, System::nanoTime);
    }

    HostLimiter(HostLimits limits, LongSupplier nanos) {
        this.limits = limits;
        this.nanos = nanos;
        this.cleanedAt = new AtomicLong(nanos.getAsLong() - CLEANUP_INTERVAL);
    }

    /**
     * Decides whether a request to this host may start now.
     *
     * @param withBreaker whether the breaker of the host applies to the request
     */
    public Admission tryAcquire(ProjectHost host, boolean withBreaker) {
        long now = nanos.getAsLong();
        if (hosts.size() >= CLEANUP_THRESHOLD) cleanUp(now);
        Admission[] answer = new Admission[1];
        hosts.compute(host, (name, known) -> {
            HostState state = known == null ? new HostState(limits, now) : known;
            HostState.Wait wait = state.tryAcquire(now, withBreaker);
            answer[0] = wait == null
                    ? new Admission.Admitted(this, host, withBreaker, withBreaker && state.isProbing())
                    : deferred(wait);
            return state;
        });
        return answer[0];
    }

    private void cleanUp(long now) {
        long before = cleanedAt.get();
        if (now - before >= CLEANUP_INTERVAL && cleanedAt.compareAndSet(before, now))
            hosts.values().removeIf(state -> state.isRemovable(now) || state.isStale(now));
    }

    /**
     * Decides whether a request to this host must wait because the breaker of the host is open. For a sender that has
     * work to do before it calls {@link #tryAcquire}.
     */
    public Optional<Admission.Deferred> parkIfOpen(ProjectHost host) {
        long now = nanos.getAsLong();
        Admission.Deferred[] answer = new Admission.Deferred[1];
        hosts.computeIfPresent(host, (name, state) -> {
            if (state.isParking(now)) answer[0] = deferred(state.park(now));
            return state;
        });
        return Optional.ofNullable(answer[0]);
    }

    /** Returns the hosts whose breaker is open, with the time until the next probe; zero if one is due or was sent. */
    public Map<ProjectHost, Duration> openBreakers() {
        long now = nanos.getAsLong();
        Map<ProjectHost, Duration> open =
                new TreeMap<>(Comparator.comparing(ProjectHost::project).thenComparing(ProjectHost::host));
        for (ProjectHost host : hosts.keySet())
            hosts.computeIfPresent(host, (name, state) -> {
                // Nothing calls this host anymore, so no probe would close its breaker.
                if (state.isStale(now)) return null;
                Duration untilProbe = state.untilProbe(now);
                if (untilProbe != null) open.put(host, untilProbe);
                return state;
            });
        return open;
    }

    private void release(Admission.Admitted admitted, boolean failed, Duration slowDown) {
        long now = nanos.getAsLong();
        hosts.computeIfPresent(admitted.host(), (host, state) -> {
            state.release(now, slowDown);
            if (admitted.withBreaker()) count(host, state, now, admitted.probe(), failed);
            return state.isRemovable(now) ? null : state;
        });
    }

    private static void count(ProjectHost host, HostState state, long now, boolean probe, boolean failed) {
        boolean wasOpen = state.untilProbe(now) != null;
        state.count(now, probe, failed);
        Duration untilProbe = state.untilProbe(now);
        if (wasOpen && untilProbe == null)
            log.info(
                    "breaker of host closed host={} project={}", ControlCharacters.escape(host.host()), host.project());
        if (!wasOpen && untilProbe != null)
            log.warn(
                    "breaker of host opened host={} project={} probeIn={}",
                    ControlCharacters.escape(host.host()),
                    host.project(),
                    untilProbe);
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

    private static Admission.Deferred deferred(HostState.Wait wait) {
        return new Admission.Deferred(wait.reason(), wait.many() ? withJitter(wait.pause()) : wait.pause());
    }

    /** Prevents that all requests that wait for a host return at the same moment. */
    private static Duration withJitter(Duration pause) {
        return pause.plusMillis(ThreadLocalRandom.current().nextLong(pause.toMillis() / 4 + 250));
    }
}
