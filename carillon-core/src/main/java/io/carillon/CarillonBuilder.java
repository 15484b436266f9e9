package io.carillon;

import static java.util.Objects.requireNonNull;

import io.carillon.engine.EngineConfig;
import io.carillon.engine.Listeners;
import io.carillon.json.JsonCodec;
import io.carillon.run.Companion;
import io.carillon.run.Handler;
import io.carillon.run.HandlerType;
import io.carillon.run.PayloadCodec;
import io.carillon.run.ReturningHandler;
import io.carillon.run.RunListener;
import io.carillon.run.TransactionalHandler;
import io.carillon.schedule.ScheduleListener;
import io.carillon.schedule.TickPlanner;
import io.carillon.schedule.When;
import io.carillon.store.Wakeup;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import io.carillon.value.SchemaMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Collects handlers, schedules and settings; {@link #start()} makes a node of them. */
public final class CarillonBuilder {
    final DataSource dataSource;
    final Handlers handlers = new Handlers();
    final Map<String, Function<Schedules, io.carillon.schedule.Definition>> schedules = new LinkedHashMap<>();

    @Nullable
    DataSource engineDataSource;

    @Nullable
    DataSource listenDataSource;

    EngineConfig config = EngineConfig.defaults();
    TickPlanner planner = TickPlanner.defaults();
    SchemaMode schema = SchemaMode.AUTO;
    PayloadCodec codec = new JsonCodec();
    Listeners listeners = Listeners.none();
    final List<Companion> companions = new ArrayList<>();
    String project = "default";
    String nodeName = "";
    boolean node;

    CarillonBuilder(DataSource dataSource) {
        this.dataSource = requireNonNull(dataSource, "dataSource");
    }

    /** What to do with payloads of a type. */
    public <T> CarillonBuilder handle(HandlerType<T> type, Handler<T> handler) {
        return handle(type, handler, options -> options);
    }

    /** The same with options. */
    public <T> CarillonBuilder handle(HandlerType<T> type, Handler<T> handler, UnaryOperator<HandlerOptions> options) {
        return add(type, options, false, (payload, run, connection) -> {
            handler.handle(payload, run);
            return null;
        });
    }

    /** A handler that answers with a result or an outcome. */
    public <T> CarillonBuilder handleReturning(HandlerType<T> type, ReturningHandler<T> handler) {
        return handleReturning(type, handler, options -> options);
    }

    /** The same with options. */
    public <T> CarillonBuilder handleReturning(
            HandlerType<T> type, ReturningHandler<T> handler, UnaryOperator<HandlerOptions> options) {
        return add(type, options, false, (payload, run, connection) -> handler.handle(payload, run));
    }

    /** A handler whose writes on the given connection and the run's completion commit together: its effect happens exactly once. */
    public <T> CarillonBuilder handleInTransaction(HandlerType<T> type, TransactionalHandler<T> handler) {
        return handleInTransaction(type, handler, options -> options);
    }

    /** The same with options. */
    public <T> CarillonBuilder handleInTransaction(
            HandlerType<T> type, TransactionalHandler<T> handler, UnaryOperator<HandlerOptions> options) {
        return add(type, options, true, (payload, run, connection) -> {
            handler.handle(payload, run, requireNonNull(connection));
            return null;
        });
    }

    private <T> CarillonBuilder add(
            HandlerType<T> type, UnaryOperator<HandlerOptions> options, boolean transactional, Handlers.Code<T> code) {
        handlers.add(new Handlers.Registered<>(type, options.apply(HandlerOptions.defaults()), transactional, code));
        return this;
    }

    /** A schedule that exists from the start on: created, changed to this definition, or left alone. */
    public <T> CarillonBuilder schedule(String name, When when, HandlerType<T> type, T payload) {
        return schedule(name, when, type, payload, options -> options);
    }

    /** The same with options. */
    public <T> CarillonBuilder schedule(
            String name, When when, HandlerType<T> type, T payload, UnaryOperator<ScheduleOptions> options) {
        Names.check("schedule", name);
        if (schedules.containsKey(name))
            throw new CarillonException(
                    ErrorCode.DUPLICATE_SCHEDULE,
                    "Two schedules are named '%s'. Give each a name of its own.".formatted(name));
        ScheduleOptions chosen = options.apply(ScheduleOptions.defaults());
        schedules.put(name, desk -> desk.define(name, when, type, payload, chosen));
        return this;
    }

    /** The project everything belongs to; {@code default} unless set. */
    public CarillonBuilder project(String project) {
        this.project = Names.check("project", project);
        return this;
    }

    /** How many runs this node executes at a time. */
    public CarillonBuilder concurrency(int runs) {
        EngineConfig.Slots slots = config.slots();
        config = config.with(new EngineConfig.Slots(runs, slots.transactional(), slots.claim()));
        return this;
    }

    /** How long a stop waits for running work before it hands it back; 30 seconds unless set. */
    public CarillonBuilder drain(Duration atMost) {
        EngineConfig.Pace pace = config.pace();
        config = config.with(new EngineConfig.Pace(pace.poll(), pace.plan(), atMost));
        return this;
    }

    /** How far ahead ticks are stored, between 20 seconds and an hour; 2 minutes unless set. Longer bridges longer outages of planning and stores more ticks. */
    public CarillonBuilder lookAhead(Duration ahead) {
        this.planner = TickPlanner.ahead(ahead);
        return this;
    }

    /** Who plans: every node (the default), or one for all. */
    public CarillonBuilder planning(EngineConfig.Planning planning) {
        config = config.with(planning);
        return this;
    }

    /** What wakes this process when there is work: LISTEN and NOTIFY unless set. It may be changed later by {@link Carillon#wakeup(Wakeup)}. */
    public CarillonBuilder wakeup(Wakeup wakeup) {
        config = config.with(wakeup);
        return this;
    }

    /** All settings of the engine. */
    public CarillonBuilder config(EngineConfig config) {
        this.config = config;
        return this;
    }

    /** What to do about the tables: migrate (the default), validate only, or nothing. */
    public CarillonBuilder schema(SchemaMode mode) {
        this.schema = mode;
        return this;
    }

    /** Another way to write payloads than JSON by Jackson. */
    public CarillonBuilder codec(PayloadCodec codec) {
        this.codec = codec;
        return this;
    }

    /** Hears of attempts and plans on this node; there may be several. One that is a {@link ScheduleListener} as well hears of schedules too. */
    public CarillonBuilder listener(RunListener listener) {
        listeners = listeners.and(listener);
        return listener instanceof ScheduleListener both ? scheduleListener(both) : this;
    }

    /** Hears of what this process does to schedules, and of instants it finds that will not run; there may be several. */
    public CarillonBuilder scheduleListener(ScheduleListener listener) {
        listeners = listeners.and(listener);
        return this;
    }

    /** Something that travels with each run that is enqueued, to whoever executes it: a trace, the caller's authorization. There may be several. */
    public CarillonBuilder companion(Companion companion) {
        companions.add(companion);
        return this;
    }

    /** The name under which this node is shown; host and process unless set. Two nodes may share a name. */
    public CarillonBuilder nodeName(String name) {
        this.nodeName = Names.check("node", name);
        return this;
    }

    /** A pool of the engine's own; the one given to {@link Carillon#on} then serves transactional handlers only. */
    public CarillonBuilder engineDataSource(DataSource source) {
        this.engineDataSource = source;
        return this;
    }

    /** A way to the server without a pooler, for LISTEN alone: one connection that stays. Without it LISTEN goes where the engine's statements go. */
    public CarillonBuilder listenDataSource(DataSource source) {
        this.listenDataSource = source;
        return this;
    }

    /** Prepares the tables and the schedules, without any background thread: enough to enqueue, to manage and to {@link Carillon#tick}. */
    public Carillon build() {
        node = false;
        return Carillon.of(this);
    }

    /** {@link #build()}, and a node that plans and executes until it is closed; in the mode {@code http} there is none. */
    public Carillon start() {
        node = config.wakeup().mode() != Wakeup.Mode.HTTP;
        Carillon carillon = Carillon.of(this);
        try {
            if (node) carillon.startEngine();
            return carillon;
        } catch (RuntimeException | Error failure) {
            carillon.close();
            throw failure;
        }
    }
}
