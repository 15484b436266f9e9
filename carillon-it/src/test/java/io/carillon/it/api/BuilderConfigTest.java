package io.carillon.it.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.NodeConfig;
import io.carillon.Wakeup;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A builder method for a single setting wins over the same setting in a {@link NodeConfig}. */
@CarillonTest
class BuilderConfigTest {
    private static final NodeConfig CONFIG = NodeConfig.defaults().concurrency(8);

    private final ApiFixture fixture;

    BuilderConfigTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void the_node_has_the_concurrency_of_its_config() {
        assertThat(slots(builder -> builder.config(CONFIG))).isEqualTo(8);
    }

    @Test
    void the_concurrency_of_the_builder_wins_in_any_order() {
        assertThat(slots(builder -> builder.concurrency(3).config(CONFIG))).isEqualTo(3);
        assertThat(slots(builder -> builder.config(CONFIG).concurrency(3))).isEqualTo(3);
    }

    @Test
    void no_node_starts_if_the_builder_sets_http_before_another_config() {
        Carillon carillon =
                fixture.node(builder -> builder.wakeup(Wakeup.http()).config(CONFIG.wakeup(Wakeup.polling())));

        assertThat(carillon.wakeup()).isEqualTo(Wakeup.http());
        assertThat(carillon.status()).isEmpty();
    }

    private int slots(UnaryOperator<CarillonBuilder> settings) {
        return fixture.node(settings).status().orElseThrow().slots().total();
    }
}
