package io.carillon.internal.api;

import io.carillon.internal.engine.EngineParts;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Determines the name, host, process id and version that a node publishes. */
public final class NodeNames {
    private NodeNames() {}

    public static EngineParts.NodeIdentity identity(String chosen) {
        long pid = ProcessHandle.current().pid();
        String host = host();
        String version = NodeNames.class.getPackage().getImplementationVersion();
        return new EngineParts.NodeIdentity(
                chosen.isEmpty() ? host + "-" + pid : chosen, host, pid, version == null ? "dev" : version);
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unnamed) {
            return "localhost";
        }
    }
}
