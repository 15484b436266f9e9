package io.carillon.cli.serve;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.NodeConfig;
import io.carillon.Schema;
import io.carillon.cli.config.ServerConfig;
import io.carillon.cli.shell.ConnectionPools;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.micrometer.CarillonMeters;
import io.carillon.server.CarillonServer;
import io.carillon.server.ServerBuilder;
import io.carillon.server.hooks.ServerWebhooks;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A process that runs a node, a server, or both on one database. */
public final class ServerProcess {
    private static final long MAX_WAIT_SECONDS = 60;

    private final Shell shell;
    private final ServerConfig config;
    private final CountDownLatch stopRequested = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    public ServerProcess(Shell shell, ServerConfig config) {
        this.shell = shell;
        this.config = config;
    }

    /** Runs until a signal arrives. With schema action PRINT, prints the missing SQL and returns. */
    public void run() {
        if (config.schemaAction() == ServerConfig.SchemaAction.PRINT) printSchema();
        else runUntilStopped();
    }

    private void printSchema() {
        try (HikariDataSource pool = ConnectionPools.open(config.database(), 1)) {
            Schema schema = Carillon.schema(pool);
            shell.out().print(schema.sql(schema.appliedVersion() + 1));
            shell.out().flush();
        } finally {
            closed.countDown();
        }
    }

    private void runUntilStopped() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        CarillonMeters meters = new CarillonMeters(registry);
        try (HikariDataSource pool =
                        ConnectionPools.open(config.database(), config.pools().engine());
                ServerWebhooks webhooks = webhooks(pool);
                Carillon carillon = start(webhooks.handleOn(builder(pool)).listener(meters))) {
            if (config.role().executes()) meters.watch(carillon);
            if (config.role().serves()) serve(carillon, webhooks, registry);
            else awaitStop();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } finally {
            closed.countDown();
        }
    }

    private CarillonBuilder builder(HikariDataSource pool) {
        ServerConfig.Node node = config.node();
        CarillonBuilder builder = Carillon.on(pool)
                .schema(config.schemaAction().mode())
                .config(NodeConfig.defaults()
                        .claiming(node.leaders().claiming())
                        .leaderTimes(node.leaders().lease(), node.leaders().checkInterval()))
                .planning(node.leaders().planning())
                .lookAhead(node.lookAhead())
                .shutdownTimeout(node.shutdownTimeout())
                .wakeup(node.wakeup());
        node.name().ifPresent(builder::nodeName);
        node.concurrency().ifPresent(builder::concurrency);
        return builder;
    }

    /**
     * Brings the schema into the required state, then checks that the stored secrets can be decrypted before any
     * webhook is delivered.
     */
    private ServerWebhooks webhooks(HikariDataSource pool) {
        switch (config.schemaAction()) {
            case AUTO -> Carillon.schema(pool).migrate();
            case VALIDATE -> Carillon.schema(pool).validate();
            case OFF, PRINT -> {}
        }
        ServerWebhooks.Builder builder =
                ServerWebhooks.on(pool).guard(config.webhooks().guard());
        config.webhooks().keys().ifPresent(builder::keys);
        return builder.build().checkSecrets();
    }

    private Carillon start(CarillonBuilder builder) {
        return config.role().executes() ? builder.start() : builder.build();
    }

    private void serve(Carillon carillon, ServerWebhooks webhooks, PrometheusMeterRegistry registry)
            throws InterruptedException {
        try (HikariDataSource requests =
                        ConnectionPools.open(config.database(), config.pools().requests());
                CarillonServer server =
                        serverBuilder(carillon, requests, webhooks, registry).start()) {
            announce("listening on http://%s:%d".formatted(config.address().host(), server.port()));
            if (server.bootstrapKey().isPresent())
                shell.out()
                        .println("The first API key, with scope admin for project 'default', is in "
                                + config.access().bootstrapKeyFile().get());
            stopRequested.await();
        }
    }

    private ServerBuilder serverBuilder(
            Carillon carillon, HikariDataSource requests, ServerWebhooks webhooks, PrometheusMeterRegistry registry) {
        ServerBuilder builder = CarillonServer.on(carillon, requests)
                .listen(config.address().host(), config.address().port())
                .registry(registry)
                .webhooks(webhooks)
                .quota(config.quota())
                .auditRetention(config.auditRetention())
                .allowedHosts(config.http().allowedHosts())
                .maxConnectionsPerAddress(config.http().maxConnectionsPerAddress())
                .readOnly(config.http().readOnly())
                .requireRowSecurity(config.access().requireRowSecurity())
                // Standard output of a server is often kept in a log that more people read than may use the key.
                .onBootstrapKey(key ->
                        SecretFiles.writeNew(config.access().bootstrapKeyFile().get(), key + "\n"));
        config.http().publicUrl().ifPresent(builder::publicUrl);
        config.access().provider().ifPresent(builder::provider);
        config.access().maxKeyLifetime().ifPresent(builder::maxKeyLifetime);
        config.tokenVerifier().ifPresent(builder::tokenVerifier);
        return builder;
    }

    private void awaitStop() throws InterruptedException {
        announce("executing due runs; the REST API is off");
        stopRequested.await();
    }

    /** Prints a message for people. Nothing is printed with a JSON log: programs read standard error then. */
    private void announce(String message) {
        if (!config.jsonLog()) shell.err().println("carillon: " + message);
    }

    /** Makes a signal end {@link #run} in order. The JVM waits for the end and exits with code 0. */
    public ServerProcess stopOnSignal() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::onSignal, "carillon-serve-stop"));
        return this;
    }

    private void onSignal() {
        if (closed.getCount() == 0) return;
        stopRequested.countDown();
        try {
            if (closed.await(MAX_WAIT_SECONDS, TimeUnit.SECONDS))
                Runtime.getRuntime().halt(0);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
