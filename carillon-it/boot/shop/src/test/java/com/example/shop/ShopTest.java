package com.example.shop;

import static com.example.shop.CarillonConfiguration.INVOICE;
import static com.example.shop.CarillonConfiguration.REMIND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.TestDatabase;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.transaction.IllegalTransactionStateException;

@SpringBootTest
@DirtiesContext
class ShopTest {
    private static final TestDatabase DATABASE = TestDatabase.migrated();

    private final CarillonKit kit = CarillonKit.on(DATABASE);

    @Autowired
    private Orders orders;

    @Autowired
    private Mail mail;

    @Autowired
    private SpringTransaction transaction;

    @Autowired
    private CarillonHealth health;

    @Autowired
    private MeterRegistry registry;

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry registry) {
        registry.add("spring.datasource.url", DATABASE::jdbcUrl);
        registry.add("spring.datasource.username", DATABASE::user);
        registry.add("spring.datasource.password", DATABASE::password);
    }

    @BeforeEach
    void clear() {
        DATABASE.clear();
        DATABASE.execute("DELETE FROM orders; DELETE FROM invoice");
    }

    @Test
    void sends_a_reminder_and_an_invoice_for_a_placed_order() {
        UUID order = UUID.randomUUID();

        orders.place(order, "ann@example.com");

        await().untilAsserted(() -> kit.run(REMIND).succeeded().withUniqueKey("remind:" + order));
        await().untilAsserted(() -> kit.run(INVOICE).succeeded());
        assertThat(mail.sent()).contains("ann@example.com");
        assertThat(DATABASE.query("SELECT count(*) FROM invoice WHERE order_id = '" + order + "'")
                        .number())
                .isEqualTo(1);
    }

    @Test
    void enqueues_nothing_if_the_transaction_rolls_back() {
        assertThatThrownBy(() -> orders.place(UUID.randomUUID(), "")).hasMessageContaining("email");

        assertThat(kit).notEnqueued(REMIND).notEnqueued(INVOICE);
        assertThat(DATABASE.query("SELECT count(*) FROM orders").number()).isZero();
    }

    @Test
    void refuses_a_call_without_a_transaction() {
        assertThatThrownBy(() -> transaction.call(carillon -> carillon.runs()))
                .isInstanceOf(IllegalTransactionStateException.class);
    }

    @Test
    void shows_health_and_meters() {
        orders.place(UUID.randomUUID(), "ann@example.com");

        await().untilAsserted(() -> assertThat(registry.get("carillon.runs.finished")
                        .tag("type", "reminder.send")
                        .tag("outcome", "succeeded")
                        .counter()
                        .count())
                .isPositive());
        assertThat(registry.get("carillon.node.slots")
                        .tag("state", "free")
                        .gauge()
                        .value())
                .isPositive();
        assertThat(health.health().getStatus().getCode()).isEqualTo("UP");
        assertThat(health.health().getDetails()).containsKey("issues");
    }

    @Test
    void stops_with_the_application() {
        var context = new SpringApplicationBuilder(ShopApplication.class)
                .properties(
                        "spring.datasource.url=" + DATABASE.jdbcUrl(),
                        "spring.datasource.username=" + DATABASE.user(),
                        "spring.datasource.password=" + DATABASE.password())
                .run();
        Carillon carillon = context.getBean(Carillon.class);
        assertThat(carillon.isRunning()).isTrue();

        context.close();

        assertThat(carillon.isRunning()).isFalse();
    }
}
