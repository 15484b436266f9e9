package io.carillon.internal.engine.node;

import static java.util.Objects.requireNonNull;

import io.carillon.NodeConfig;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.store.node.HeartbeatResult;
import io.carillon.internal.store.node.NodeRegistration;
import io.carillon.internal.store.node.NodeStore;
import io.carillon.internal.value.PublicId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends heartbeats on its own connection and watches the heartbeats of other nodes. A peer is declared dead only if
 * this node saw the same heartbeat counter for long enough on its own monotonic clock, while its own heartbeats
 * succeeded. So neither a stalled database nor a changed system clock makes a node declare others dead.
 */
public final class Heartbeat implements Loop.Task {
    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);
    private final Loop loop = new Loop("heartbeat", true, this);

    private final NodeStore nodes;
    private final Node node;
    private final NodeConfig config;
    private final Function<UUID, NodeRegistration> registration;
    private final LoopReports reports;
    private final DeadNodeDetector deadNodeDetector;
    private volatile long lastHeartbeat = System.nanoTime();
    private volatile boolean lastHeartbeatFailed;

    public Heartbeat(
            NodeStore nodes,
            Node node,
            NodeConfig config,
            Function<UUID, NodeRegistration> registration,
            LoopReports reports) {
        this.nodes = nodes;
        this.node = node;
        this.config = config;
        this.registration = registration;
        this.reports = reports;
        this.deadNodeDetector = new DeadNodeDetector(config);
    }

    public void register() {
        nodes.register(registration.apply(node.id()));
        lastHeartbeat = System.nanoTime();
    }

    /** Returns the thread that repeats this task. */
    public Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        UUID nodeId = node.id();
        long sent = System.nanoTime();
        HeartbeatResult result = sendHeartbeat(nodeId);
        node.clock().observe(result.now(), sent);
        node.clusterSize().update(nodeId, result.peers().keySet());
        if (!result.alive()) {
            restartWithNewId(nodeId);
            return;
        }
        for (HeartbeatResult.CancelRequest request : result.cancelRequests())
            node.activeAttempts()
                    .find(request.run())
                    .ifPresent(
                            activeAttempt -> activeAttempt.stop(ActiveAttempt.StopCause.CANCELLED, request.reason()));
        if (result.outdated()) reports.onSchemaChanged();
        boolean anyDeclaredDead = declareSilentPeersDead(result.peers());
        if (anyDeclaredDead || result.rescueDue()) reports.onRescueDue();
        // Several heartbeats still fit before another node could declare this one dead.
        Duration interval = config.heartbeatInterval();
        Duration maxInterval = interval.multipliedBy(3).dividedBy(2);
        loop.sleep(node.clusterSize().scaledInterval(interval, maxInterval).toNanos());
    }

    private HeartbeatResult sendHeartbeat(UUID nodeId) {
        try {
            HeartbeatResult result = nodes.recordHeartbeat(
                    nodeId, node.activeAttempts().size(), node.activeAttempts().progress());
            lastHeartbeat = System.nanoTime();
            lastHeartbeatFailed = false;
            return result;
        } catch (RuntimeException | Error failure) {
            lastHeartbeatFailed = true;
            throw failure;
        }
    }

    @Override
    public void onFailure(Throwable failure) {
        // Own heartbeats failed, so the silence of other nodes proves nothing.
        deadNodeDetector.reset();
    }

    private void restartWithNewId(UUID old) {
        log.error(
                "this node was declared dead; attempts abandoned, restarting with a new node id node={}",
                PublicId.ofNode(old));
        reports.onDeclaredDead();
        if (node.renewId(old)) register();
    }

    private boolean declareSilentPeersDead(Map<UUID, Long> peers) {
        boolean anyDeclaredDead = false;
        for (UUID peer : deadNodeDetector.findSilentPeers(peers, System.nanoTime())) {
            String why = "no heartbeat for %d s, declared dead by node %s"
                    .formatted(config.deadAfter().toSeconds(), PublicId.ofNode(node.id()));
            if (nodes.declareDead(peer, requireNonNull(peers.get(peer)), why)) {
                log.warn("node declared dead node={} reason={}", PublicId.ofNode(peer), why);
                anyDeclaredDead = true;
            }
        }
        return anyDeclaredDead;
    }

    /**
     * Returns whether the database is unreachable: it rejected heartbeats for two intervals, or left them unanswered
     * until other nodes may declare this one dead.
     */
    public boolean isDatabaseUnreachable() {
        long silent = System.nanoTime() - lastHeartbeat;
        return silent >= config.deadAfter().toNanos()
                || (lastHeartbeatFailed
                        && silent >= 2 * config.heartbeatInterval().toNanos());
    }

    /** Retires this node id. If the database is unreachable, other nodes will declare the node dead instead. */
    public void retire() {
        if (lastHeartbeatFailed || isDatabaseUnreachable())
            log.warn("database unreachable; node not retired node={}", PublicId.ofNode(node.id()));
        else nodes.retire(node.id());
    }

    List<UUID> peers() {
        return deadNodeDetector.peers();
    }
}
