package com.example.shop;

import static org.awaitility.Awaitility.await;

import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.TestDatabase;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

@SpringBootTest
@DirtiesContext
class OrdersTest {
    private static final TestDatabase DATABASE = TestDatabase.migrated();

    private final CarillonKit kit = CarillonKit.on(DATABASE);

    @Autowired
    private Orders orders;

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry registry) {
        registry.add("spring.datasource.url", DATABASE::jdbcUrl);
        registry.add("spring.datasource.username", DATABASE::user);
        registry.add("spring.datasource.password", DATABASE::password);
    }

    @Test
    void sends_a_reminder_for_a_placed_order() {
        UUID order = UUID.randomUUID();

        orders.place(order, "ann@example.com");

        await().untilAsserted(
                        () -> kit.run(CarillonConfiguration.REMIND).succeeded().withUniqueKey("remind:" + order));
    }
}
