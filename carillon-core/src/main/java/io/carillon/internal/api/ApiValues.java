package io.carillon.internal.api;

import io.carillon.NodeInfo;
import io.carillon.internal.store.node.NodeRegistration;
import io.carillon.internal.store.node.NodeView;

/** Converts values of the store to values of the API. */
public final class ApiValues {
    private ApiValues() {}

    public static NodeInfo toNodeInfo(NodeView node) {
        NodeRegistration info = node.info();
        return new NodeInfo(
                info.id(),
                info.name(),
                info.host(),
                info.pid(),
                info.version(),
                info.handlers(),
                info.slots(),
                node.busy(),
                info.wakeup(),
                node.startedAt(),
                node.lastHeartbeatAt(),
                node.deadAt(),
                node.deathReason());
    }
}
