package io.carillon.bench.workload;

import io.carillon.bench.measure.Profile;
import io.carillon.bench.measure.Progress;
import io.carillon.bench.peer.Peer;
import io.carillon.bench.server.BenchServer;
import java.util.List;

/** The server, the requested peers, the profile and the progress of a workload. */
public record WorkloadContext(BenchServer server, List<Peer> peers, Profile profile, Progress progress) {
    public WorkloadContext {
        peers = List.copyOf(peers);
    }

    /** Returns the first round. Round 0 is the warm-up, which the smoke test omits. */
    public int firstRound() {
        return profile == Profile.SMOKE ? 1 : 0;
    }

    /** Returns the number of rounds that count. */
    public int rounds() {
        return profile.choose(1, 3, 5);
    }
}
