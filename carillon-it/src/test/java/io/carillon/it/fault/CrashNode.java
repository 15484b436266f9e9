package io.carillon.it.fault;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.NodeConfig;
import io.carillon.internal.engine.Engine;
import io.carillon.internal.engine.EngineParts;
import io.carillon.internal.engine.attempt.BoundHandler;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.engine.relay.RelayAndSourceLoops;
import io.carillon.internal.engine.stats.StatsRecorder;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.run.Gate;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.it.fixture.FaultyStorage;
import io.carillon.run.Enqueue;
import io.carillon.run.Origin;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A node in its own JVM that halts at one call of its storage, before or after the call takes effect, as a power
 * failure would stop it.
 */
public final class CrashNode {
    /** With this look-ahead a plan is written every ten seconds instead of every minute. */
    static final TickPlanner PLANNER = TickPlanner.withLookAhead(Duration.ofSeconds(20));

    private CrashNode() {}

    /** Arguments: URL, user, password, the call, BEFORE or AFTER, and the handler of the node. */
    public static void main(String[] arguments) throws Exception {
        HikariConfig pool = new HikariConfig();
        pool.setJdbcUrl(arguments[0]);
        pool.setUsername(arguments[1]);
        pool.setPassword(arguments[2]);
        pool.setMaximumPoolSize(6);
        CrashPoint crashPoint = new CrashPoint(arguments[3], PortFaults.When.valueOf(arguments[4]));
        try (HikariDataSource source = new HikariDataSource(pool);
                Storage storage = FaultyStorage.around(new PostgresStorage(source, PLANNER), crashPoint);
                Engine engine = engine(storage, source, arguments[3], List.of(arguments[5]))) {
            engine.start();
            if (arguments[3].startsWith("newRuns.")) {
                NewRun run = run(arguments[5]);
                System.out.println("enqueues " + run.id());
                storage.newRuns().enqueue(List.of(run));
            }
            new CountDownLatch(1).await();
        }
    }

    record CrashPoint(String point, PortFaults.When when) implements FaultyStorage.CallInterceptor {
        @Override
        public Object intercept(String called, Callable<Object> call) throws Throwable {
            if (!called.equals(point)) return call.call();
            if (when == PortFaults.When.AFTER) call.call();
            Runtime.getRuntime().halt(137);
            throw new AssertionError();
        }
    }

    /**
     * Returns an engine whose handlers succeed; handlers with {@code retry} in their name fail once
     * before they succeed.
     */
    static Engine engine(Storage storage, javax.sql.DataSource source, String name, List<String> handlers) {
        return engine(storage, source, name, handlers, RelayAndSourceLoops.Declared.none());
    }

    /** Returns such an engine, with relays. */
    static Engine engine(
            Storage storage,
            javax.sql.DataSource source,
            String name,
            List<String> handlers,
            RelayAndSourceLoops.Declared relaysAndSources) {
        Map<String, BoundHandler> bound = handlers.stream()
                .collect(Collectors.toMap(
                        handler -> handler,
                        handler -> new BoundHandler(
                                handler,
                                Duration.ofMinutes(1),
                                new RetryRule(Retry.exponential(Duration.ZERO), List.of()),
                                false,
                                (attempt, context, connection) -> {
                                    if (handler.contains("retry")
                                            && attempt.counts().failures() == 0)
                                        throw new IllegalStateException("fails once");
                                    return Outcome.succeeded(null);
                                })));
        return new Engine(
                new EngineParts(
                        storage,
                        bound,
                        source::getConnection,
                        Listeners.none(),
                        PLANNER,
                        new EngineParts.NodeIdentity(name, "here", 1, "test"),
                        new StatsRecorder(storage.stats(), storage.clock()),
                        relaysAndSources),
                NodeConfig.defaults()
                        .concurrency(4)
                        .transactionalConcurrency(1)
                        .maxClaimSize(20)
                        .heartbeat(Duration.ofMillis(200), Duration.ofMillis(1_500))
                        .pollInterval(Duration.ofMillis(200))
                        .planInterval(Duration.ofMillis(300))
                        .shutdownTimeout(Duration.ofSeconds(1)));
    }

    static NewRun run(String handler) {
        return run(handler, null);
    }

    private static NewRun run(String handler, Gate behind) {
        return new NewRun(
                RunId.generate(),
                new Lane(handler, "default"),
                Priority.NORMAL,
                Origin.DIRECT,
                Target.handler(handler),
                new Payload("{}".getBytes(StandardCharsets.UTF_8), "json"),
                new Enqueue.Due.After(Duration.ZERO),
                null,
                null,
                behind);
    }

    /** Returns runs with one FIFO key, which execute one after the other. */
    static List<NewRun> gatedRuns(String handler, int count) {
        return Stream.generate(() ->
                        run(handler, Gate.of(Enqueue.now().fifoKey(handler).keyLimit())))
                .limit(count)
                .toList();
    }

    static List<NewRun> runs(String handler, int count) {
        return Stream.generate(() -> run(handler)).limit(count).toList();
    }
}
