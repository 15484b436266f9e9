package io.carillon.cli.serve;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.Schema;
import io.carillon.cli.config.ServerConfig;
import io.carillon.cli.shell.Pools;
import io.carillon.cli.shell.Shell;
import io.carillon.micrometer.CarillonMeters;
import io.carillon.server.CarillonServer;
import io.carillon.server.ServerBuilder;
import io.carillon.server.hooks.ServerWebhooks;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A node, a server, or both on one database. */
public final class Serve {
    private static final long PATIENCE_SECONDS = 60;

    private final Shell shell;
    private final ServerConfig config;
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch done = new CountDownLatch(1);

    public Serve(Shell shell, ServerConfig config) {
        this.shell = shell;
        this.config = config;
    }

    /** Serves until a signal comes; or prints the SQL of the tables, where that is all. */
    public void run() {
        if (config.tables() == ServerConfig.Tables.PRINT) print();
        else work();
    }

    private void print() {
        try (HikariDataSource pool = Pools.on(config.database(), 1)) {
            Schema schema = Carillon.schema(pool);
            shell.out().print(schema.sql(schema.number() + 1));
            shell.out().flush();
        } finally {
            done.countDown();
        }
    }

    private void work() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        CarillonMeters meters = new CarillonMeters(registry);
        try (HikariDataSource pool = Pools.on(config.database(), config.pools().engine());
                ServerWebhooks webhooks = webhooks(pool);
                Carillon carillon = start(webhooks.handleOn(builder(pool)).listener(meters))) {
            if (config.role().executes()) meters.watch(carillon);
            if (config.role().serves()) serve(carillon, webhooks, registry);
            else idle();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } finally {
            done.countDown();
        }
    }

    private CarillonBuilder builder(HikariDataSource pool) {
        ServerConfig.Node node = config.node();
        CarillonBuilder builder = Carillon.on(pool)
                .schema(config.tables().mode())
                .lookAhead(node.lookAhead())
                .drain(node.drain())
                .wakeup(node.wakeup());
        node.name().ifPresent(builder::nodeName);
        node.concurrency().ifPresent(builder::concurrency);
        return builder;
    }

    /** Before anything is delivered it is certain that the secrets can be opened. */
    private ServerWebhooks webhooks(HikariDataSource pool) {
        switch (config.tables()) {
            case AUTO -> Carillon.schema(pool).migrate();
            case VALIDATE -> Carillon.schema(pool).validate();
            case OFF, PRINT -> {}
        }
        ServerWebhooks.Builder builder =
                ServerWebhooks.on(pool).guard(config.webhooks().guard());
        config.webhooks().keys().ifPresent(builder::keys);
        return builder.build().check();
    }

    private Carillon start(CarillonBuilder builder) {
        return config.role().executes() ? builder.start() : builder.build();
    }

    private void serve(Carillon carillon, ServerWebhooks webhooks, PrometheusMeterRegistry registry)
            throws InterruptedException {
        try (HikariDataSource requests =
                        Pools.on(config.database(), config.pools().requests());
                CarillonServer server =
                        door(carillon, requests, webhooks, registry).start()) {
            greet("listening on http://%s:%d".formatted(config.address().host(), server.port()));
            server.bootstrapKey().ifPresent(key -> {
                shell.out()
                        .println(
                                "The first key, an admin of the project default. It is shown this once and stored nowhere:");
                shell.out().println(key);
            });
            asked.await();
        }
    }

    private ServerBuilder door(
            Carillon carillon, HikariDataSource requests, ServerWebhooks webhooks, PrometheusMeterRegistry registry) {
        ServerBuilder door = CarillonServer.on(carillon, requests)
                .listen(config.address().host(), config.address().port())
                .registry(registry)
                .webhooks(webhooks)
                .auditKept(config.auditKept());
        config.tokens().ifPresent(door::tokens);
        return door;
    }

    private void idle() throws InterruptedException {
        greet("executing what is due, without REST");
        asked.await();
    }

    /** Where lines are read by programs, the log says it. */
    private void greet(String what) {
        if (!config.jsonLog()) shell.err().println("carillon: " + what);
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
