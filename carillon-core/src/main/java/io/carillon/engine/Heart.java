package io.carillon.engine;

import io.carillon.store.Beat;
import io.carillon.store.NodeInfo;
import io.carillon.store.NodeStore;
import java.time.Duration;
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

    private record Seen(long beat, long sinceNanos) {}

    private final NodeStore nodes;
    private final Node node;
    private final EngineConfig.Heartbeat config;
    private final Function<UUID, NodeInfo> introduction;
    private final Runnable onSweepDue;
    private final Map<UUID, Seen> watched = new HashMap<>();
    private volatile Runnable onDeath = () -> {};
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
    }

    /** What to do when this node learns that it was declared dead, before it is born again. */
    void onDeath(Runnable action) {
        onDeath = action;
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
        watched.clear();
    }

    private void rebirth(UUID old) {
        log.error("this node was declared dead, its attempts are given up and it starts afresh node={}", old);
        onDeath.run();
        if (node.rebirth(old)) register();
    }

    private boolean bury(Map<UUID, Long> peers) {
        watched.keySet().retainAll(peers.keySet());
        long now = System.nanoTime();
        boolean buried = false;
        for (Map.Entry<UUID, Long> peer : peers.entrySet()) {
            Seen seen = watched.get(peer.getKey());
            if (seen == null || seen.beat != peer.getValue()) {
                watched.put(peer.getKey(), new Seen(peer.getValue(), now));
            } else if (now - seen.sinceNanos >= config.deadAfter().toNanos()) {
                String why = "no beat for " + config.deadAfter().toSeconds() + " s, seen by " + node.id();
                if (nodes.declareDead(peer.getKey(), peer.getValue(), why)) {
                    log.warn("node declared dead node={} why={}", peer.getKey(), why);
                    buried = true;
                }
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
        return List.copyOf(watched.keySet());
    }
}
