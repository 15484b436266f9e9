package io.carillon.testkit.internal.proxy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Follows the protocol of one connection to detect that an awaited statement was committed, and holds back the
 * responses of the server until this is decided. A query cycle is everything that the server ends with one
 * ReadyForQuery: a simple query, or all messages up to a Sync.
 */
public final class CommitInterceptor {
    private final Supplier<FaultPoint> faultPoint;
    private final Map<String, String> statements = new HashMap<>();
    private final Map<String, String> portals = new HashMap<>();
    private final Deque<QueryCycle> pendingCycles = new ArrayDeque<>();
    private final List<ProtocolMessage> heldMessages = new ArrayList<>();
    private QueryCycle currentCycle = new QueryCycle();
    private @Nullable FaultPoint armedFault;

    public CommitInterceptor(Supplier<FaultPoint> faultPoint) {
        this.faultPoint = faultPoint;
    }

    /** Records a message of the client. Must be called before the server receives it. */
    public synchronized void onClientMessage(ProtocolMessage protocolMessage) {
        switch (protocolMessage.type()) {
            case 'P' -> statements.put(protocolMessage.cString(0, 0), protocolMessage.cString(0, 1));
            case 'B' ->
                portals.put(protocolMessage.cString(0, 0), statements.getOrDefault(protocolMessage.cString(0, 1), ""));
            case 'E' ->
                currentCycle.onExecute(portals.getOrDefault(protocolMessage.cString(0, 0), ""), faultPoint.get());
            case 'C' -> (protocolMessage.charAt(0) == 'S' ? statements : portals).remove(protocolMessage.cString(1, 0));
            case 'Q' -> {
                currentCycle.onExecute(protocolMessage.cString(0, 0), faultPoint.get());
                endCycle();
            }
            case 'S', 'F' -> endCycle();
            default -> {}
        }
    }

    private void endCycle() {
        pendingCycles.add(currentCycle);
        currentCycle = new QueryCycle();
    }

    /**
     * Returns the messages to send to the client now; null if the connection must be reset because the awaited commit
     * is done and its response must be lost.
     */
    synchronized @Nullable public List<ProtocolMessage> onServerMessage(ProtocolMessage protocolMessage) {
        QueryCycle cycle = pendingCycles.isEmpty() ? currentCycle : pendingCycles.element();
        heldMessages.add(protocolMessage);
        switch (protocolMessage.type()) {
            case 'E' -> cycle.failed = true;
            case 'C' -> cycle.onCommandComplete(protocolMessage.cString(0, 0));
            case 'Z' -> {
                pendingCycles.poll();
                if (triggersFault(cycle, protocolMessage.charAt(0) == 'I')) return null;
                return release();
            }
            // The client must receive these before it can continue its query cycle.
            case 'G', 'H', 'W' -> {
                return release();
            }
            default -> {}
        }
        return armedFault != null || cycle.matchedFault != null ? List.of() : release();
    }

    private boolean triggersFault(QueryCycle cycle, boolean idle) {
        if (cycle.matchedFault != null && (cycle.affectedRows || !cycle.matchedFault.killsNode()))
            armedFault = cycle.matchedFault;
        if (!idle || armedFault == null) return false;
        FaultPoint ready = armedFault;
        armedFault = null;
        return !cycle.failed && !cycle.rolledBack && ready.tryTrigger();
    }

    private List<ProtocolMessage> release() {
        List<ProtocolMessage> released = List.copyOf(heldMessages);
        heldMessages.clear();
        return released;
    }

    /** The executed statements of one query cycle, and the responses of the server. */
    private static final class QueryCycle {
        private @Nullable FaultPoint matchedFault;
        private boolean failed;
        private boolean rolledBack;
        private boolean affectedRows;

        /** The command tag ends with the number of rows if the command affects rows. */
        private void onCommandComplete(String commandTag) {
            rolledBack = commandTag.equals("ROLLBACK");
            if (commandTag.matches(".* [1-9]\\d*")) affectedRows = true;
        }

        private void onExecute(String text, FaultPoint faultPoint) {
            if (matchedFault == null && faultPoint.matches(text)) matchedFault = faultPoint;
        }
    }
}
