package io.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.ds.PGSimpleDataSource;

class CarillonBuilderTest {
    private static final NodeConfig CONFIG = NodeConfig.defaults()
            .concurrency(8)
            .maxClaimSize(100)
            .shutdownTimeout(Duration.ofSeconds(1))
            .lookAhead(Duration.ofMinutes(1))
            .wakeup(Wakeup.http());

    static List<Arguments> methodsForSingleSettings() {
        return List.of(
                single(builder -> builder.concurrency(3), CONFIG.concurrency(3)),
                single(
                        builder -> builder.shutdownTimeout(Duration.ofSeconds(3)),
                        CONFIG.shutdownTimeout(Duration.ofSeconds(3))),
                single(builder -> builder.lookAhead(Duration.ofMinutes(3)), CONFIG.lookAhead(Duration.ofMinutes(3))),
                single(
                        builder -> builder.planning(NodeConfig.Planning.LEADER),
                        CONFIG.planning(NodeConfig.Planning.LEADER)),
                single(builder -> builder.wakeup(Wakeup.polling()), CONFIG.wakeup(Wakeup.polling())));
    }

    private static Arguments single(UnaryOperator<CarillonBuilder> method, NodeConfig expected) {
        return Arguments.of(method, expected);
    }

    @ParameterizedTest
    @MethodSource("methodsForSingleSettings")
    void a_single_setting_wins_over_the_config_in_any_order(
            UnaryOperator<CarillonBuilder> method, NodeConfig expected) {
        assertThat(method.apply(builder()).config(CONFIG).nodeConfig()).isEqualTo(expected);
        assertThat(method.apply(builder().config(CONFIG)).nodeConfig()).isEqualTo(expected);
    }

    @Test
    void the_last_value_of_a_single_setting_wins() {
        CarillonBuilder builder = builder().concurrency(3).lookAhead(Duration.ofMinutes(3));

        assertThat(builder.config(CONFIG).concurrency(4).nodeConfig())
                .isEqualTo(CONFIG.concurrency(4).lookAhead(Duration.ofMinutes(3)));
    }

    @Test
    void an_invalid_single_setting_is_refused_at_once_and_changes_nothing() {
        CarillonBuilder builder = builder().concurrency(3);

        assertThatThrownBy(() -> builder.concurrency(0))
                .hasMessage("concurrency must be between 1 and 100000 (was 0).");
        assertThat(builder.nodeConfig()).isEqualTo(NodeConfig.defaults().concurrency(3));
    }

    private static CarillonBuilder builder() {
        return Carillon.on(new PGSimpleDataSource());
    }
}
