package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class HeartTest {
    private static final UUID PEER = UUID.randomUUID();
    private final Heart.Watch watch =
            new Heart.Watch(new EngineConfig.Heartbeat(Duration.ofSeconds(2), Duration.ofSeconds(10)));
    private long seconds = 1_000;

    @Test
    void a_peer_that_is_silent_through_several_own_beats_is_dead_after_the_time_said() {
        assertThat(dies(7)).isFalse();
        for (int own = 0; own < 4; own++) assertThat(diesAfter(2, 7)).isFalse();

        assertThat(diesAfter(2, 7)).isTrue();
    }

    @Test
    void a_beat_of_the_peer_begins_anew() {
        dies(7);
        for (int own = 0; own < 4; own++) diesAfter(2, 7);

        assertThat(diesAfter(2, 8)).isFalse();
        assertThat(diesAfter(2, 8)).isFalse();
    }

    @Test
    void the_silence_of_a_database_that_answered_nobody_is_nobodys() {
        dies(7);

        assertThat(diesAfter(11, 7)).isFalse();
        assertThat(diesAfter(60, 7)).isFalse();
        // Then the peer is still silent while the own beats succeed.
        assertThat(diesAfter(2, 7)).isFalse();
        assertThat(diesAfter(2, 7)).isTrue();
    }

    @Test
    void after_an_own_beat_that_failed_all_silence_begins_anew() {
        dies(7);
        for (int own = 0; own < 4; own++) diesAfter(2, 7);
        watch.forget();

        assertThat(diesAfter(2, 7)).isFalse();
        for (int own = 0; own < 4; own++) assertThat(diesAfter(2, 7)).isFalse();
        assertThat(diesAfter(2, 7)).isTrue();
    }

    private boolean diesAfter(int pause, long beat) {
        seconds += pause;
        return dies(beat);
    }

    private boolean dies(long beat) {
        return watch.silent(Map.of(PEER, beat), Duration.ofSeconds(seconds).toNanos())
                .contains(PEER);
    }
}
