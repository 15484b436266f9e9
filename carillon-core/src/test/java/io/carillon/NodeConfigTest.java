package io.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.value.VirtualThreads;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class NodeConfigTest {
    private static final Duration ENDLESS = Duration.ofSeconds(Long.MAX_VALUE);
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final NodeConfig DEFAULTS = NodeConfig.defaults();

    private static final Map<String, Function<NodeConfig, Object>> ACCESSORS = accessors();

    private static Map<String, Function<NodeConfig, Object>> accessors() {
        Map<String, Function<NodeConfig, Object>> all = new LinkedHashMap<>();
        all.put("concurrency", NodeConfig::concurrency);
        all.put("transactionalConcurrency", NodeConfig::transactionalConcurrency);
        all.put("maxClaimSize", NodeConfig::maxClaimSize);
        all.put("heartbeatInterval", NodeConfig::heartbeatInterval);
        all.put("deadAfter", NodeConfig::deadAfter);
        all.put("pollInterval", NodeConfig::pollInterval);
        all.put("planInterval", NodeConfig::planInterval);
        all.put("lookAhead", NodeConfig::lookAhead);
        all.put("shutdownTimeout", NodeConfig::shutdownTimeout);
        all.put("historyRetention", NodeConfig::historyRetention);
        all.put("deadRunRetention", NodeConfig::deadRunRetention);
        all.put("eventRetention", NodeConfig::eventRetention);
        all.put("planning", NodeConfig::planning);
        all.put("wakeup", NodeConfig::wakeup);
        return all;
    }

    @Test
    void ships_the_documented_defaults() {
        assertThat(DEFAULTS.concurrency()).isEqualTo(VirtualThreads.exist() ? 256 : 50);
        assertThat(DEFAULTS.transactionalConcurrency()).isEqualTo(16);
        assertThat(DEFAULTS.maxClaimSize()).isEqualTo(2_000);
        assertThat(DEFAULTS.heartbeatInterval()).isEqualTo(Duration.ofSeconds(2));
        assertThat(DEFAULTS.deadAfter()).isEqualTo(Duration.ofSeconds(10));
        assertThat(DEFAULTS.pollInterval()).isEqualTo(SECOND);
        assertThat(DEFAULTS.planInterval()).isEqualTo(Duration.ofSeconds(10));
        assertThat(DEFAULTS.lookAhead())
                .isEqualTo(Duration.ofMinutes(2))
                .isEqualTo(TickPlanner.defaults().lookAhead());
        assertThat(DEFAULTS.shutdownTimeout()).isEqualTo(Duration.ofSeconds(30));
        assertThat(DEFAULTS.historyRetention()).isEqualTo(Duration.ofDays(14));
        assertThat(DEFAULTS.deadRunRetention()).isEqualTo(Duration.ofDays(30));
        assertThat(DEFAULTS.eventRetention()).isEqualTo(Duration.ofDays(30));
        assertThat(DEFAULTS.planning()).isEqualTo(NodeConfig.Planning.EVERY_NODE);
        assertThat(DEFAULTS.wakeup()).isEqualTo(Wakeup.notifying());
    }

    static List<Arguments> settersWithTheirLimits() {
        return List.of(
                change(config -> config.concurrency(1), Map.of("concurrency", 1)),
                change(config -> config.concurrency(100_000), Map.of("concurrency", 100_000)),
                change(config -> config.transactionalConcurrency(0), Map.of("transactionalConcurrency", 0)),
                change(config -> config.maxClaimSize(1), Map.of("maxClaimSize", 1)),
                change(config -> config.maxClaimSize(10_000), Map.of("maxClaimSize", 10_000)),
                change(
                        config -> config.heartbeat(SECOND, Duration.ofSeconds(3)),
                        Map.of("heartbeatInterval", SECOND, "deadAfter", Duration.ofSeconds(3))),
                change(
                        config -> config.heartbeat(Duration.ofHours(8), Duration.ofDays(1)),
                        Map.of("heartbeatInterval", Duration.ofHours(8), "deadAfter", Duration.ofDays(1))),
                change(
                        config -> config.pollInterval(Duration.ofMillis(1)),
                        Map.of("pollInterval", Duration.ofMillis(1))),
                change(config -> config.pollInterval(Duration.ofDays(1)), Map.of("pollInterval", Duration.ofDays(1))),
                change(
                        config -> config.planInterval(Duration.ofMillis(1)),
                        Map.of("planInterval", Duration.ofMillis(1))),
                change(config -> config.planInterval(Duration.ofDays(1)), Map.of("planInterval", Duration.ofDays(1))),
                change(config -> config.lookAhead(Duration.ofSeconds(20)), Map.of("lookAhead", Duration.ofSeconds(20))),
                change(config -> config.lookAhead(Duration.ofHours(1)), Map.of("lookAhead", Duration.ofHours(1))),
                change(config -> config.shutdownTimeout(Duration.ZERO), Map.of("shutdownTimeout", Duration.ZERO)),
                change(
                        config -> config.shutdownTimeout(Duration.ofDays(1)),
                        Map.of("shutdownTimeout", Duration.ofDays(1))),
                change(
                        config -> config.historyRetention(Duration.ofDays(1)),
                        Map.of("historyRetention", Duration.ofDays(1))),
                change(
                        config -> config.historyRetention(Duration.ofDays(36_500)),
                        Map.of("historyRetention", Duration.ofDays(36_500))),
                change(
                        config -> config.eventRetention(Duration.ofDays(1)),
                        Map.of("eventRetention", Duration.ofDays(1))),
                change(
                        config -> config.deadRunRetention(Duration.ofDays(1)),
                        Map.of("deadRunRetention", Duration.ofDays(1))),
                change(
                        config -> config.deadRunRetention(Duration.ofDays(36_500)),
                        Map.of("deadRunRetention", Duration.ofDays(36_500))),
                change(
                        config -> config.planning(NodeConfig.Planning.LEADER),
                        Map.of("planning", NodeConfig.Planning.LEADER)),
                change(config -> config.wakeup(Wakeup.polling()), Map.of("wakeup", Wakeup.polling())));
    }

    private static Arguments change(UnaryOperator<NodeConfig> setter, Map<String, Object> expected) {
        return Arguments.of(setter, expected);
    }

    @ParameterizedTest
    @MethodSource("settersWithTheirLimits")
    void a_setter_changes_one_setting_of_a_copy(UnaryOperator<NodeConfig> setter, Map<String, Object> expected) {
        NodeConfig receiver = NodeConfig.defaults();
        NodeConfig changed = setter.apply(receiver);

        ACCESSORS.forEach((name, accessor) -> assertThat(accessor.apply(changed))
                .as(name)
                .isEqualTo(expected.getOrDefault(name, accessor.apply(DEFAULTS))));
        assertThat(receiver).isEqualTo(DEFAULTS);
        assertThat(changed).isNotEqualTo(DEFAULTS);
        assertThat(changed).isEqualTo(setter.apply(DEFAULTS)).hasSameHashCodeAs(setter.apply(DEFAULTS));
        expected.forEach((name, value) -> assertThat(changed.toString()).contains(name + "=" + value));
    }

    @Test
    void every_setting_is_changed_by_a_test_case_and_named_in_the_text() {
        Set<Object> changed = new HashSet<>();
        for (Arguments one : settersWithTheirLimits()) changed.addAll(((Map<?, ?>) one.get()[1]).keySet());

        assertThat(changed).isEqualTo(ACCESSORS.keySet());
        assertThat(DEFAULTS.toString()).contains(ACCESSORS.keySet());
        assertThat(DEFAULTS).isNotEqualTo("NodeConfig");
    }

    static List<Arguments> valuesThatWouldStopALoopLater() {
        String interval = "%s must be between 1 ms and 1 day (was %s).";
        String retention = "%s must be between 1 day and 100 years (was %s).";
        String fits =
                "The heartbeat interval must be positive and fit three times into deadAfter (was %s, deadAfter %s).";
        return List.of(
                refusal(config -> config.concurrency(0), "concurrency must be between 1 and 100000 (was 0)."),
                refusal(
                        config -> config.concurrency(100_001),
                        "concurrency must be between 1 and 100000 (was 100001)."),
                refusal(
                        config -> config.transactionalConcurrency(-1),
                        "transactionalConcurrency must not be negative (was -1)."),
                refusal(config -> config.maxClaimSize(0), "maxClaimSize must be between 1 and 10000 (was 0)."),
                refusal(config -> config.maxClaimSize(10_001), "maxClaimSize must be between 1 and 10000 (was 10001)."),
                refusal(config -> config.heartbeat(Duration.ZERO, SECOND), fits.formatted("PT0S", "PT1S")),
                refusal(config -> config.heartbeat(SECOND.negated(), SECOND), fits.formatted("PT-1S", "PT1S")),
                refusal(
                        config -> config.heartbeat(Duration.ofSeconds(4), Duration.ofSeconds(11)),
                        fits.formatted("PT4S", "PT11S")),
                // Swapped arguments.
                refusal(
                        config -> config.heartbeat(Duration.ofSeconds(10), Duration.ofSeconds(2)),
                        fits.formatted("PT10S", "PT2S")),
                refusal(
                        config -> config.heartbeat(ENDLESS, ENDLESS),
                        "deadAfter must be at most 1 day (was %s).".formatted(ENDLESS)),
                refusal(
                        config -> config.heartbeat(SECOND, ENDLESS),
                        "deadAfter must be at most 1 day (was %s).".formatted(ENDLESS)),
                refusal(config -> config.pollInterval(Duration.ZERO), interval.formatted("pollInterval", "PT0S")),
                refusal(config -> config.pollInterval(ENDLESS), interval.formatted("pollInterval", ENDLESS)),
                refusal(config -> config.planInterval(Duration.ZERO), interval.formatted("planInterval", "PT0S")),
                refusal(config -> config.planInterval(ENDLESS), interval.formatted("planInterval", ENDLESS)),
                refusal(
                        config -> config.lookAhead(Duration.ofSeconds(19)),
                        "lookAhead must be between 20 s and 1 h (was PT19S)."),
                refusal(
                        config -> config.lookAhead(Duration.ofHours(2)),
                        "lookAhead must be between 20 s and 1 h (was PT2H)."),
                refusal(
                        config -> config.shutdownTimeout(SECOND.negated()),
                        "shutdownTimeout must be between 0 and 1 day (was PT-1S)."),
                refusal(
                        config -> config.shutdownTimeout(ENDLESS),
                        "shutdownTimeout must be between 0 and 1 day (was %s).".formatted(ENDLESS)),
                refusal(
                        config -> config.historyRetention(Duration.ofHours(23)),
                        retention.formatted("historyRetention", "PT23H")),
                refusal(config -> config.historyRetention(ENDLESS), retention.formatted("historyRetention", ENDLESS)),
                refusal(
                        config -> config.deadRunRetention(Duration.ofHours(23)),
                        retention.formatted("deadRunRetention", "PT23H")),
                refusal(
                        config -> config.eventRetention(Duration.ofHours(23)),
                        retention.formatted("eventRetention", "PT23H")),
                refusal(config -> config.deadRunRetention(ENDLESS), retention.formatted("deadRunRetention", ENDLESS)));
    }

    private static Arguments refusal(UnaryOperator<NodeConfig> setter, String message) {
        return Arguments.of(setter, message);
    }

    @ParameterizedTest
    @MethodSource("valuesThatWouldStopALoopLater")
    void refuses_values_that_would_stop_a_loop_later(UnaryOperator<NodeConfig> setter, String message) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, () -> setter.apply(DEFAULTS));

        assertThat(refusal).as(message).isNotNull();
        assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_OPTION);
        assertThat(refusal).hasMessage(message);
    }
}
