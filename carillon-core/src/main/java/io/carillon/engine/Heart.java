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
    }

    @Override
    void turn() throws InterruptedException {
        UUID me = node.id();
        Beat beat = nodes.beat(me, node.holding().size(), node.holding().progress());
        node.clock().observe(beat.now());
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

    @Override
    void onFailure(Throwable failure) {
        // Our own beats failed: nobody else's silence proves anything.
        watched.clear();
    }

    private void rebirth(UUID old) {
        log.error("this node was declared dead, its attempts are given up and it starts afresh node={}", old);
        onDeath.run();
        if (node.incarnation().rebirth(old)) register();
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

    /** Ends this incarnation in order. */
    void retire() {
        nodes.retire(node.id());
    }

    List<UUID> peers() {
        return List.copyOf(watched.keySet());
    }
}
