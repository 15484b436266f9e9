package com.example.shop;

import io.carillon.Carillon;
import io.carillon.Health.Issue;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.stereotype.Component;

@Component
class CarillonHealth implements HealthIndicator {
    private final Carillon carillon;

    CarillonHealth(Carillon carillon) {
        this.carillon = carillon;
    }

    @Override
    public Health health() {
        Health.Builder health = carillon.isRunning() ? Health.up() : Health.down();
        return health.withDetail(
                        "issues",
                        carillon.health().issues().stream().map(Issue::text).toList())
                .build();
    }
}
