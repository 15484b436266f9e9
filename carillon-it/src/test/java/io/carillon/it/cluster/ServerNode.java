package io.carillon.it.cluster;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.server.CarillonServer;
import java.util.concurrent.CountDownLatch;

/** A server process without workers, for tests that kill it. */
final class ServerNode {
    private ServerNode() {}

    /** Arguments: URL, user, password. Prints the port, and the bootstrap key if this process created it. */
    public static void main(String[] arguments) throws Exception {
        HikariConfig pool = new HikariConfig();
        pool.setJdbcUrl(arguments[0]);
        pool.setUsername(arguments[1]);
        pool.setPassword(arguments[2]);
        pool.setMaximumPoolSize(12);
        try (HikariDataSource dataSource = new HikariDataSource(pool);
                Carillon carillon = Carillon.on(dataSource).build();
                CarillonServer server = CarillonServer.on(carillon, dataSource)
                        .listen("127.0.0.1", 0)
                        .start()) {
            System.out.println(
                    "ready " + server.port() + " " + server.bootstrapKey().orElse("-"));
            new CountDownLatch(1).await();
        }
    }
}
