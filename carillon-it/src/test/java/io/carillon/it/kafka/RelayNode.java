package io.carillon.it.kafka;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.NodeConfig;
import io.carillon.event.Topic;
import io.carillon.kafka.KafkaRelay;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** A node with a relay in its own JVM, to be killed and frozen. */
public final class RelayNode {
    private RelayNode() {}

    /** Arguments: URL, user, password, bootstrap servers, and the Kafka topic. */
    public static void main(String[] arguments) throws Exception {
        HikariConfig pool = new HikariConfig();
        pool.setJdbcUrl(arguments[0]);
        pool.setUsername(arguments[1]);
        pool.setPassword(arguments[2]);
        pool.setMaximumPoolSize(6);
        try (HikariDataSource source = new HikariDataSource(pool);
                Carillon carillon = Carillon.on(source)
                        .config(NodeConfig.defaults().shutdownTimeout(Duration.ofSeconds(1)))
                        .relay(KafkaRelay.to(Map.of("bootstrap.servers", arguments[3]))
                                .topic(Topic.named("orders"), arguments[4])
                                .fromBeginning())
                        .start()) {
            System.out.println("started " + carillon.isRunning());
            new CountDownLatch(1).await();
        }
    }
}
