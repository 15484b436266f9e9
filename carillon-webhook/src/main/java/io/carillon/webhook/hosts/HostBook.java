package io.carillon.webhook.hosts;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * What this node knows of hosts. Whoever wants to send asks to enter; whoever may, says how it went. Of hosts that are idle and well nothing is kept.
 * Thread-safe.
 */
public final class HostBook {
    /** The answer to whoever wants to send. */
    public sealed interface Entry {
        /** Go on, and say how it went. */
        record Enter(HostBook book, String host, boolean probe) implements Entry {
            /** How it went; {@code hostFailed}: the host is at fault; {@code slowDown}: leave it alone for so long, zero for not at all. */
            public void leave(boolean hostFailed, Duration slowDown) {
                book.leave(this, hostFailed, slowDown);
            }
        }

        /** Not now: again after a while. */
        record Wait(Duration pause) implements Entry {}
    }

    /** From here on it is worth a walk through all of them. */
    private static final int MANY = 10_000;

    private final HostLimits limits;
    private final LongSupplier nanos;
    private final ConcurrentHashMap<String, HostState> hosts = new ConcurrentHashMap<>();

    public HostBook(HostLimits limits) {
        this(limits, System::nanoTime);
    }

    HostBook(HostLimits limits, LongSupplier nanos) {
        this.limits = limits;
        this.nanos = nanos;
    }

    /** Whether a request to this host may start now. */
    public Entry enter(String host) {
        long now = nanos.getAsLong();
        if (hosts.size() >= MANY) hosts.values().removeIf(state -> state.forgettable(now) || state.stale(now));
        Entry[] answer = new Entry[1];
        hosts.compute(host, (name, known) -> {
            HostState state = known == null ? new HostState(limits, now) : known;
            Duration pause = state.enter(now);
            answer[0] = pause.isZero() ? new Entry.Enter(this, host, state.probing()) : new Entry.Wait(spread(pause));
            return state;
        });
        return answer[0];
    }

    private void leave(Entry.Enter entered, boolean failed, Duration slowDown) {
        long now = nanos.getAsLong();
        hosts.computeIfPresent(entered.host(), (name, state) -> {
            state.leave(now, entered.probe(), failed, slowDown);
            return state.forgettable(now) ? null : state;
        });
    }

    /** How many hosts are remembered. */
    int size() {
        return hosts.size();
    }

    /** Those that wait for one host must not all come back in the same moment. */
    private static Duration spread(Duration pause) {
        return pause.plusMillis(ThreadLocalRandom.current().nextLong(pause.toMillis() / 4 + 250));
    }
}
