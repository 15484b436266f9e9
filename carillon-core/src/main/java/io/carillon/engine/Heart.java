package io.carillon.engine;

import static java.util.Objects.requireNonNull;

import io.carillon.store.Beat;
import io.carillon.store.NodeInfo;
import io.carillon.store.NodeStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Beats on a connection of its own, and watches the others' beats. A peer is declared dead only if this node saw the same beat for long enough on its own
 * monotonic clock while its own beats succeeded: neither a stalled database nor a clock that was set kills anybody.
 */
final class Heart extends Loop {
    private static final Logger log = LoggerFactory.getLogger(Heart.class);

    private final NodeStore nodes;
    private final Node node;
    private final EngineConfig.Heartbeat config;
    private final Function<UUID, NodeInfo> introduction;
    private final Runnable onSweepDue;
    private final Watch watch;
    private volatile Runnable onDeath = () -> {};
    private volatile Runnable onOutdated = () -> {};
    private volatile long lastBeat = System.nanoTime();
    private volatile boolean unanswered;

    Heart(
            NodeStore nodes,
            Node node,
            EngineConfig.Heartbeat config,
            Function<UUID, NodeInfo> introduction,
            Runnable onSweepDue) {
        super("heart", true);
        this.nodes = nodes;
        this.node = node;
        this.config = config;
        this.introduction = introduction;
        this.onSweepDue = onSweepDue;
        this.watch = new Watch(config);
    }

    /** What to do when this node learns that it was declared dead, before it is born again. */
    void onDeath(Runnable action) {
        onDeath = action;
    }

    /** Sets the action for a schema that needs a newer version. Each heartbeat calls it from then on. */
    void onOutdated(Runnable action) {
        onOutdated = action;
    }

    void register() {
        nodes.register(introduction.apply(node.id()));
        lastBeat = System.nanoTime();
    }

    @Override
    void turn() throws InterruptedException {
        UUID me = node.id();
        long sent = System.nanoTime();
        Beat beat = beat(me);
        node.clock().observe(beat.now(), sent);
        node.crowd().seen(me, beat.peers().keySet());
        if (!beat.alive()) {
            rebirth(me);
            return;
        }
        for (Beat.CancelOrder order : beat.cancels())
            node.holding().find(order.run()).ifPresent(held -> held.stop(Held.Stop.CANCELLED, order.reason()));
        if (beat.outdated()) onOutdated.run();
        boolean buried = bury(beat.peers());
        if (buried || beat.sweepDue()) onSweepDue.run();
        // Still several times before anybody could take this node for dead.
        Duration most = config.every().multipliedBy(3).dividedBy(2);
        sleep(node.crowd().stretched(config.every(), most).toNanos());
    }

    private Beat beat(UUID me) {
        try {
            Beat beat = nodes.beat(me, node.holding().size(), node.holding().progress());
            lastBeat = System.nanoTime();
            unanswered = false;
            return beat;
        } catch (RuntimeException | Error failure) {
            unanswered = true;
            throw failure;
        }
    }

    @Override
    void onFailure(Throwable failure) {
        // Our own beats failed: nobody else's silence proves anything.
        watch.forget();
    }

    private void rebirth(UUID old) {
        log.error("this node was declared dead, its attempts are given up and it starts afresh node={}", old);
        onDeath.run();
        if (node.rebirth(old)) register();
    }

    private boolean bury(Map<UUID, Long> peers) {
        boolean buried = false;
        for (UUID peer : watch.silent(peers, System.nanoTime())) {
            String why = "no beat for " + config.deadAfter().toSeconds() + " s, seen by " + node.id();
            if (nodes.declareDead(peer, requireNonNull(peers.get(peer)), why)) {
                log.warn("node declared dead node={} why={}", peer, why);
                buried = true;
            }
        }
        return buried;
    }

    /** Whether the database is away: it refused beats for the time of two, or left them unanswered until others may take this node for dead. */
    boolean cutOff() {
        long silent = System.nanoTime() - lastBeat;
        return silent >= config.deadAfter().toNanos()
                || (unanswered && silent >= 2 * config.every().toNanos());
    }

    /** Ends this incarnation in order. Unsaid, because the database is away, the others will declare it dead. */
    void retire() {
        if (unanswered || cutOff()) log.warn("no good-bye, the database is away node={}", node.id());
        else nodes.retire(node.id());
    }

    List<UUID> peers() {
        return watch.peers();
    }

    /**
     * How long each peer has been silent, as far as own beats prove it. One own beat credits at most one and a half intervals of silence: while the database
     * answered nobody, all nodes were silent, and the first answer after it says nothing about the others. Several own beats must succeed in a peer's silence.
     */
    static final class Watch {
        private record Seen(long beat, long silentNanos) {}

        private final Map<UUID, Seen> peers = new HashMap<>();
        private final long mostCredit;
        private final long deadAfter;
        private long lastNanos;

        Watch(EngineConfig.Heartbeat config) {
            mostCredit = config.every().toNanos() * 3 / 2;
            deadAfter = config.deadAfter().toNanos();
        }

        /** An own beat succeeded at {@code now} and showed these beats; returns the peers that were silent for too long. */
        List<UUID> silent(Map<UUID, Long> beats, long now) {
            peers.keySet().retainAll(beats.keySet());
            long credit = Math.min(now - lastNanos, mostCredit);
            lastNanos = now;
            List<UUID> silent = new ArrayList<>();
            beats.forEach((peer, beat) -> {
                Seen seen = peers.get(peer);
                long silence = seen == null || seen.beat != beat ? 0 : seen.silentNanos + credit;
                peers.put(peer, new Seen(beat, silence));
                if (silence >= deadAfter) silent.add(peer);
            });
            return silent;
        }

        /** An own beat failed. */
        void forget() {
            peers.clear();
        }

        List<UUID> peers() {
            return List.copyOf(peers.keySet());
        }
    }
}
