package io.carillon.cli.serve;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.Pools;
import io.carillon.cli.shell.Shell;
import io.carillon.micrometer.CarillonMeters;
import io.carillon.server.CarillonServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A node and a server on one database. */
public final class Serve {
    private static final int ENGINE_POOL = 10;
    private static final int REQUEST_POOL = 20;
    private static final long PATIENCE_SECONDS = 60;

    private final Shell shell;
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch done = new CountDownLatch(1);

    public Serve(Shell shell) {
        this.shell = shell;
    }

    /** Serves until a signal comes. */
    public void run(DatabaseUrl url, Address address) {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        CarillonMeters meters = new CarillonMeters(registry);
        try (HikariDataSource engine = Pools.on(url, ENGINE_POOL);
                HikariDataSource requests = Pools.on(url, REQUEST_POOL);
                Carillon carillon = Carillon.on(engine).listener(meters).start();
                CarillonServer server = CarillonServer.on(carillon, requests)
                        .listen(address.host(), address.port())
                        .registry(registry)
                        .start()) {
            meters.watch(carillon);
            greet(server, address);
            asked.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } finally {
            done.countDown();
        }
    }

    private void greet(CarillonServer server, Address address) {
        shell.err().println("carillon: listening on http://%s:%d".formatted(address.host(), server.port()));
        server.bootstrapKey().ifPresent(key -> {
            shell.out()
                    .println(
                            "The first key, an admin of the project default. It is shown this once and stored nowhere:");
            shell.out().println(key);
        });
    }

    /** Lets a signal end {@link #run} in order; the JVM waits for it and ends with 0. */
    public Serve untilSignal() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::bySignal, "carillon-serve-stop"));
        return this;
    }

    private void bySignal() {
        if (done.getCount() == 0) return;
        asked.countDown();
        try {
            if (done.await(PATIENCE_SECONDS, TimeUnit.SECONDS))
                Runtime.getRuntime().halt(0);
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        }
    }
}
