package io.carillon;

import io.carillon.engine.BoundHandler;
import io.carillon.engine.Engine;
import io.carillon.engine.EngineConfig;
import io.carillon.engine.EngineParts;
import io.carillon.engine.EngineStatus;
import io.carillon.engine.TickDriver;
import io.carillon.postgres.PostgresStorage;
import io.carillon.postgres.backend.Backend;
import io.carillon.postgres.migration.Migrator;
import io.carillon.run.AttemptGuard;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import io.carillon.run.Luggage;
import io.carillon.run.NewRun;
import io.carillon.schedule.Definition;
import io.carillon.schedule.ScheduleEvent;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.Desks;
import io.carillon.store.NodeView;
import io.carillon.store.Signal;
import io.carillon.store.Storage;
import io.carillon.store.Vitals;
import io.carillon.store.WakeTransport;
import io.carillon.store.Wakeup;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import io.carillon.value.Uuid7;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A distributed scheduler and durable work queue on the PostgreSQL you have. Each planned instant creates exactly one run, or one recorded reason why not;
 * handlers start at least once; results are recorded at most once; effects are exactly-once if they commit with the run.
 */
public final class Carillon implements Enqueuing, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Carillon.class);
    private final Storage storage;
    private final Payloads payloads;
    private final Set<String> projects = ConcurrentHashMap.newKeySet();
    private final EngineParts parts;
    private final UnaryOperator<EngineConfig> fitted;
    private final Schema schema;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile EngineConfig config;
    private volatile @Nullable Engine engine;

    private Carillon(
            Storage storage,
            Payloads payloads,
            EngineParts parts,
            EngineConfig config,
            UnaryOperator<EngineConfig> fitted,
            Schema schema) {
        this.storage = storage;
        this.payloads = payloads;
        this.parts = parts;
        this.config = config;
        this.fitted = fitted;
        this.schema = schema;
    }

    /** Starts here: a pool on PostgreSQL 14 or later. Carillon creates none of its own and never closes yours. */
    public static CarillonBuilder on(DataSource dataSource) {
        return new CarillonBuilder(dataSource);
    }

    /** The tables of Carillon in this database, for those who bring them up to date by hand; {@link #on} does it by itself. */
    public static Schema schema(DataSource dataSource) {
        return new Schema(dataSource);
    }

    static Carillon of(CarillonBuilder builder) {
        DataSource engineSource = builder.engineDataSource == null ? builder.dataSource : builder.engineDataSource;
        DataSources.check(engineSource);
        boolean shared = builder.handlers.anyTransactional() && builder.engineDataSource == null;
        UnaryOperator<EngineConfig> fitted = config -> fitted(config, engineSource, shared);
        // Only loops need room in the pool: who just enqueues or ticks may have a connection or two.
        EngineConfig config = builder.node ? fitted.apply(builder.config) : builder.config;
        new Migrator(engineSource).run(builder.schema);
        TickPlanner planner = builder.planner;
        boolean pooled = DataSources.pooled(engineSource)
                || (engineSource != builder.dataSource && DataSources.pooled(builder.dataSource));
        DataSource ears = builder.listenDataSource == null ? engineSource : builder.listenDataSource;
        Storage storage = new PostgresStorage(engineSource, ears, !pooled, planner);
        storage.projects().ensure(builder.project);
        Luggage luggage = new Luggage(builder.companions);
        Payloads payloads = new Payloads(
                builder.project, builder.handlers, builder.codec, luggage, new Uuid7.Sequence(storage.clock()));
        EngineParts parts = new EngineParts(
                storage,
                accompanied(builder.handlers.bind(builder.codec), luggage),
                pooled
                        ? () -> Backend.preparingNothing(builder.dataSource.getConnection())
                        : builder.dataSource::getConnection,
                builder.listeners,
                planner,
                NodeNames.identity(builder.nodeName));
        Carillon carillon = new Carillon(storage, payloads, parts, config, fitted, new Schema(engineSource));
        // All of them are read before the first is written: one that cannot be written down changes nothing.
        List<Definition> definitions = builder.schedules.values().stream()
                .map(define -> define.apply(carillon.schedules()))
                .toList();
        definitions.forEach(carillon.schedules()::upsert);
        return carillon;
    }

    /** The same settings with as many transactional handlers as the pool has room for. */
    private static EngineConfig fitted(EngineConfig config, DataSource source, boolean shared) {
        EngineConfig.Slots slots = config.slots();
        int transactional = DataSources.transactionalSlots(source, shared, slots.transactional());
        return config.with(new EngineConfig.Slots(slots.concurrency(), transactional, slots.claim()));
    }

    private static Map<String, BoundHandler> accompanied(Map<String, BoundHandler> handlers, Luggage luggage) {
        Map<String, BoundHandler> all = new HashMap<>();
        handlers.forEach((name, handler) -> all.put(name, handler.accompaniedBy(luggage)));
        return all;
    }

    void startEngine() {
        Engine started = new Engine(parts, fitted.apply(config));
        started.start();
        engine = started;
    }

    @Override
    public <T> EnqueueResult enqueue(HandlerType<T> type, T payload, Enqueue options) {
        return home().enqueue(type, payload, options);
    }

    @Override
    public <T> List<EnqueueResult> enqueueAll(HandlerType<T> type, Collection<T> values, Enqueue options) {
        return home().enqueueAll(type, values, options);
    }

    private List<EnqueueResult> store(List<NewRun> runs) {
        refuseIfClosed();
        if (runs.isEmpty()) return List.of();
        // All runs of one call share a lane, a due time and a gate.
        NewRun first = runs.get(0);
        Wakeup by = config.wakeup();
        by.refuseOutOfReach(first.due());
        List<EnqueueResult> results = storage.inbox().enqueue(runs, engine == null && by.notifies());
        stored(first);
        return results;
    }

    /** A run like this one is committed: who sleeps here, or at the other end of a transport, is woken. Who has no node has told by NOTIFY already. */
    private void stored(NewRun run) {
        Engine running = engine;
        WakeTransport transport = config.wakeup().transport();
        if (running != null) running.announce(run);
        else if (transport != null) quietly(() -> transport.carries(run.lane(), Wakeup.delay(run.due())));
    }

    private List<EnqueueResult> storeIn(
            Connection connection, List<NewRun> runs, @Nullable Consumer<Runnable> afterCommit) {
        if (runs.isEmpty()) return List.of();
        Wakeup by = config.wakeup();
        NewRun first = runs.get(0);
        by.refuseOutOfReach(first.due());
        boolean later = afterCommit != null && engine != null;
        if (afterCommit != null) afterCommit.accept(() -> stored(first));
        return storage.inbox().enqueueIn(connection, runs, by.notifies() && !later);
    }

    /** Another project's door. One engine executes the runs of all projects; the project is made when it is first asked for. */
    public Project project(String name) {
        refuseIfClosed();
        if (!name.equals(payloads.project()) && !projects.contains(Names.check("project", name))) {
            storage.projects().ensure(name);
            projects.add(name);
        }
        return door(payloads.of(name));
    }

    private Project home() {
        refuseIfClosed();
        return door(payloads);
    }

    private Project door(Payloads of) {
        Desks desks =
                new Desks(storage.inbox(), storage.runDesk(), storage.schedules(), storage.lanes(), storage.wake());
        return new Project(
                of,
                desks,
                this::store,
                new Project.Hints(this::wake, this::tell),
                (in, hints) -> joined(of, in, hints));
    }

    private Project joined(Payloads of, Connection connection, @Nullable Consumer<Runnable> afterCommit) {
        refuseIfClosed();
        Desks desks = storage.in(connection);
        Project.Hints hints = afterCommit == null
                ? new Project.Hints(
                        () -> {
                            if (config.wakeup().notifies()) desks.wake().send(List.of(new Signal.Look()));
                        },
                        event -> {})
                : new Project.Hints(
                        () -> afterCommit.accept(this::wake), event -> afterCommit.accept(() -> tell(event)));
        return new Project(
                of, desks, runs -> storeIn(connection, runs, afterCommit), hints, (in, later) -> joined(of, in, later));
    }

    /** Everything in the caller's transaction: nothing is visible before it commits, and nothing remains if it rolls back. */
    public Project in(Connection connection) {
        return home().in(connection);
    }

    /** The same; what is handed to {@code afterCommit} tells nodes and listeners, and in the modes queue and hybrid other processes, once it is run after the commit. */
    public Project in(Connection connection, Consumer<Runnable> afterCommit) {
        return home().in(connection, afterCommit);
    }

    public Schedules schedules() {
        return home().schedules();
    }

    public Runs runs() {
        return home().runs();
    }

    public Queues queues() {
        return home().queues();
    }

    /** What wakes this process. */
    public Wakeup wakeup() {
        return config.wakeup();
    }

    /** Changes what wakes this process while it runs: with {@code http} its node stops in order, with any other mode it has one from now on. No data changes. */
    public synchronized void wakeup(Wakeup wakeup) {
        refuseIfClosed();
        Engine running = engine;
        boolean ticked = wakeup.mode() == Wakeup.Mode.HTTP;
        config = config.with(wakeup);
        if (running == null) {
            if (!ticked) startEngine();
        } else if (ticked) {
            engine = null;
            running.close();
        } else running.wakeBy(wakeup);
    }

    /** Plans, claims and executes on this thread until nothing is due or the budget is spent; for serverless functions and external crons. */
    public TickResult tick(Duration budget) {
        return tick(budget, attempt -> {});
    }

    /** The same, with a guard that is asked before each handler and may make the attempt fail: for tests of retries, as the test kit does it. */
    public TickResult tick(Duration budget, AttemptGuard guard) {
        refuseIfClosed();
        if (budget.isNegative() || budget.isZero() || budget.compareTo(Duration.ofHours(1)) > 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The budget %s is outside 1 ms..1 h. Choose one inside.".formatted(budget));
        storage.outdated().ifPresent(why -> {
            throw new CarillonException(
                    ErrorCode.SCHEMA_TOO_NEW,
                    "The tables belong to a newer version: %s. Start that version here.".formatted(why));
        });
        TickDriver.Result result = new TickDriver(parts.guardedBy(guard)).tick(budget);
        return new TickResult(result.processed(), result.errors());
    }

    /** Tells whether this process executes runs: its node is started and not closed, and all of its loops live. Never throws, also when it is closed. */
    public boolean isRunning() {
        Engine running = engine;
        return !closed.get()
                && running != null
                && running.status().loops().values().stream().allMatch(EngineStatus.LoopStatus::alive);
    }

    /** How this process's node fares; empty where it has none. */
    public Optional<EngineStatus> status() {
        refuseIfClosed();
        Engine running = engine;
        return running == null ? Optional.empty() : Optional.of(running.status());
    }

    /** Figures about queues and schedules, for dashboards. */
    public Vitals.Figures figures() {
        refuseIfClosed();
        return storage.vitals().figures();
    }

    /** What the database says about missed instants, stalled runs and what stands in the way. */
    public Vitals vitals() {
        refuseIfClosed();
        return storage.vitals().read();
    }

    /** Whether everything is all right. */
    public Health health() {
        refuseIfClosed();
        return HealthCheck.check(storage, engine, config.wakeup(), schema::validate);
    }

    /** The nodes that beat, and those that died within the hour. */
    public List<NodeView> nodes() {
        refuseIfClosed();
        return storage.nodes().list();
    }

    private void tell(ScheduleEvent event) {
        Engine running = engine;
        if (running != null) running.tell(event);
        else parts.listeners().here().schedules().heard(event);
    }

    private void wake() {
        Engine running = engine;
        if (running != null) running.announcePlans();
        else if (config.wakeup().notifies()) quietly(() -> storage.wake().send(List.of(new Signal.Look())));
    }

    /** What a hint speaks of is committed already: one that cannot be sent costs a poll, and must not look like a failure of what was done. */
    private static void quietly(Runnable hint) {
        try {
            hint.run();
        } catch (RuntimeException unsent) {
            log.warn("a hint could not be sent, polling will find the work", unsent);
        }
    }

    private void refuseIfClosed() {
        if (closed.get())
            throw new CarillonException(ErrorCode.ALREADY_CLOSED, "This Carillon is closed. Build a new one to go on.");
    }

    /** Stops claiming, waits for what runs (30 s unless set otherwise), hands the rest back and says good-bye. Closing twice is fine. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) return;
        synchronized (this) {
            Engine running = engine;
            if (running != null) running.close();
            storage.close();
        }
    }
}
