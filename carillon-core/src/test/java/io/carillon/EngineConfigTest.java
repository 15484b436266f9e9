package io.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.internal.value.VirtualThreads;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class EngineConfigTest {
    private static final Duration ENDLESS = Duration.ofSeconds(Long.MAX_VALUE);

    @Test
    void ships_the_documented_defaults() {
        EngineConfig config = EngineConfig.defaults();

        assertThat(config.slots().concurrency()).isEqualTo(VirtualThreads.exist() ? 256 : 50);
        assertThat(config.slots().maxClaimSize()).isEqualTo(2_000);
        assertThat(config.heartbeat().deadAfter()).isEqualTo(Duration.ofSeconds(10));
        assertThat(config.heartbeat().every()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(3));
        assertThat(config.timing())
                .isEqualTo(new EngineConfig.TimingSettings(
                        Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofSeconds(30)));
        assertThat(config.retention()).isEqualTo(new EngineConfig.Retention(Duration.ofDays(14), Duration.ofDays(30)));
    }

    @Test
    void changes_one_group_at_a_time() {
        EngineConfig config = EngineConfig.defaults();
        EngineConfig.TimingSettings timingSettings =
                new EngineConfig.TimingSettings(Duration.ofMillis(1), Duration.ofMillis(1), Duration.ZERO);
        EngineConfig.Slots slots = new EngineConfig.Slots(1, 0, 1);
        EngineConfig.HeartbeatSettings heartbeatSettings =
                new EngineConfig.HeartbeatSettings(Duration.ofSeconds(1), Duration.ofSeconds(3));
        EngineConfig.Retention retention = new EngineConfig.Retention(Duration.ofDays(1), Duration.ofDays(1));

        assertThat(config.with(timingSettings)
                        .with(slots)
                        .with(heartbeatSettings)
                        .with(retention))
                .isEqualTo(new EngineConfig(
                        slots,
                        heartbeatSettings,
                        timingSettings,
                        retention,
                        EngineConfig.Planning.EVERY_NODE,
                        config.wakeup()));
    }

    @Test
    void refuses_values_that_would_stop_a_loop_later() {
        List<Supplier<?>> absurd = List.of(
                () -> new EngineConfig.Slots(0, 0, 1),
                () -> new EngineConfig.Slots(100_001, 0, 1),
                () -> new EngineConfig.Slots(1, -1, 1),
                () -> new EngineConfig.Slots(1, 0, 0),
                () -> new EngineConfig.Slots(1, 0, 10_001),
                () -> heartbeat(Duration.ZERO, Duration.ofSeconds(1)),
                () -> heartbeat(Duration.ofSeconds(-1), Duration.ofSeconds(1)),
                () -> heartbeat(Duration.ofSeconds(4), Duration.ofSeconds(11)),
                () -> heartbeat(ENDLESS, ENDLESS),
                () -> heartbeat(Duration.ofSeconds(1), ENDLESS),
                () -> timing(Duration.ZERO, Duration.ofSeconds(1), Duration.ZERO),
                () -> timing(ENDLESS, Duration.ofSeconds(1), Duration.ZERO),
                () -> timing(Duration.ofSeconds(1), Duration.ZERO, Duration.ZERO),
                () -> timing(Duration.ofSeconds(1), ENDLESS, Duration.ZERO),
                () -> timing(Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofSeconds(-1)),
                () -> timing(Duration.ofSeconds(1), Duration.ofSeconds(1), ENDLESS),
                () -> retention(Duration.ofHours(23), Duration.ofDays(1)),
                () -> retention(Duration.ofDays(1), Duration.ofHours(23)),
                () -> retention(ENDLESS, Duration.ofDays(1)),
                () -> retention(Duration.ofDays(1), ENDLESS));

        for (int i = 0; i < absurd.size(); i++) {
            CarillonException refusal = catchThrowableOfType(CarillonException.class, absurd.get(i)::get);
            assertThat(refusal).as("case %d is accepted", i).isNotNull();
            assertThat(refusal.code()).as("case %d", i).isEqualTo(ErrorCode.INVALID_OPTION);
        }
    }

    @Test
    void the_error_says_how_many_heartbeats_must_fit() {
        CarillonException refusal = catchThrowableOfType(
                CarillonException.class, () -> heartbeat(Duration.ofSeconds(4), Duration.ofSeconds(11)));

        assertThat(refusal)
                .hasMessageContaining("PT4S")
                .hasMessageContaining("PT11S")
                .hasMessageContaining("three");
    }

    private static EngineConfig.HeartbeatSettings heartbeat(Duration every, Duration deadAfter) {
        return new EngineConfig.HeartbeatSettings(every, deadAfter);
    }

    private static EngineConfig.TimingSettings timing(Duration poll, Duration plan, Duration drain) {
        return new EngineConfig.TimingSettings(poll, plan, drain);
    }

    private static EngineConfig.Retention retention(Duration history, Duration deadRuns) {
        return new EngineConfig.Retention(history, deadRuns);
    }
}
