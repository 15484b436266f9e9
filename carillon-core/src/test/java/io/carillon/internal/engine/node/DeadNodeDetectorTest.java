package io.carillon.internal.engine.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.NodeConfig;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DeadNodeDetectorTest {
    private static final UUID PEER = UUID.randomUUID();
    private final DeadNodeDetector deadNodeDetector =
            new DeadNodeDetector(NodeConfig.defaults().heartbeat(Duration.ofSeconds(2), Duration.ofSeconds(10)));
    private long seconds = 1_000;

    @Test
    void a_peer_that_is_silent_through_several_own_heartbeats_is_dead_after_the_limit() {
        assertThat(isDead(7)).isFalse();
        for (int own = 0; own < 4; own++) assertThat(isDeadAfter(2, 7)).isFalse();

        assertThat(isDeadAfter(2, 7)).isTrue();
    }

    @Test
    void a_heartbeat_of_the_peer_resets_its_silence() {
        isDead(7);
        for (int own = 0; own < 4; own++) isDeadAfter(2, 7);

        assertThat(isDeadAfter(2, 8)).isFalse();
        assertThat(isDeadAfter(2, 8)).isFalse();
    }

    @Test
    void silence_during_a_database_outage_is_not_counted() {
        isDead(7);

        assertThat(isDeadAfter(11, 7)).isFalse();
        assertThat(isDeadAfter(60, 7)).isFalse();
        // The peer stays silent while the own heartbeats succeed.
        assertThat(isDeadAfter(2, 7)).isFalse();
        assertThat(isDeadAfter(2, 7)).isTrue();
    }

    @Test
    void a_failed_own_heartbeat_resets_the_silence_of_all_peers() {
        isDead(7);
        for (int own = 0; own < 4; own++) isDeadAfter(2, 7);
        deadNodeDetector.reset();

        assertThat(isDeadAfter(2, 7)).isFalse();
        for (int own = 0; own < 4; own++) assertThat(isDeadAfter(2, 7)).isFalse();
        assertThat(isDeadAfter(2, 7)).isTrue();
    }

    private boolean isDeadAfter(int pause, long beat) {
        seconds += pause;
        return isDead(beat);
    }

    private boolean isDead(long beat) {
        return deadNodeDetector
                .findSilentPeers(Map.of(PEER, beat), Duration.ofSeconds(seconds).toNanos())
                .contains(PEER);
    }
}
