package io.carillon;

import static java.util.Objects.requireNonNull;

import io.carillon.event.Event;
import io.carillon.event.EventPattern;
import io.carillon.event.EventType;
import io.carillon.event.Events;
import io.carillon.event.NewEvent;
import io.carillon.event.Subscribe;
import io.carillon.event.SubscriptionTarget;
import io.carillon.internal.api.DeclaredRelaysAndSources;
import io.carillon.internal.api.EventHandlers;
import io.carillon.internal.api.Handlers;
import io.carillon.internal.api.workflow.WorkflowHandlers;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.json.JsonCodec;
import io.carillon.internal.value.Names;
import io.carillon.run.Handler;
import io.carillon.run.HandlerType;
import io.carillon.run.Payload;
import io.carillon.run.ReturningHandler;
import io.carillon.run.TransactionalHandler;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.spi.ContextPropagator;
import io.carillon.spi.EventRelay;
import io.carillon.spi.EventSource;
import io.carillon.spi.PayloadCodec;
import io.carillon.spi.RunListener;
import io.carillon.spi.ScheduleListener;
import io.carillon.workflow.Workflow;
import io.carillon.workflow.WorkflowType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Collects handlers, schedules and settings of a {@link Carillon} instance. {@link #start()} creates the instance and
 * starts a node; {@link #build()} creates it without a node. Not thread-safe.
 */
public final class CarillonBuilder {
    final DataSource dataSource;
    final Handlers handlers = new Handlers();
    final EventHandlers eventHandlers = new EventHandlers();
    final DeclaredRelaysAndSources relaysAndSources = new DeclaredRelaysAndSources();
    final WorkflowHandlers workflowHandlers = new WorkflowHandlers();
    final Map<String, Function<Schedules, io.carillon.schedule.ScheduleDefinition>> schedules = new LinkedHashMap<>();

    @Nullable
    DataSource engineDataSource;

    @Nullable
    DataSource listenDataSource;

    private NodeConfig config = NodeConfig.defaults();
    private UnaryOperator<NodeConfig> changes = config -> config;
    SchemaMode schema = SchemaMode.AUTO;
    private @Nullable PayloadCodec codec;
    Listeners listeners = Listeners.none();
    final List<ContextPropagator> contextPropagators = new ArrayList<>();
    final List<Supplier<List<Health.Issue>>> healthIssues = new ArrayList<>();
    final List<Consumer<Carillon>> builtActions = new ArrayList<>();
    String project = "default";
    String nodeName = "";
    boolean startsNode;
    boolean prunesSchedules;
    private boolean publishesBySchedule;

    CarillonBuilder(DataSource dataSource) {
        this.dataSource = requireNonNull(dataSource, "dataSource");
        EventHandlers.addPublisher(handlers);
    }

    /** Registers the handler for runs of this type. */
    public <T> CarillonBuilder handle(HandlerType<T> type, Handler<T> handler) {
        return handle(type, handler, HandlerOptions.defaults());
    }

    /** Like {@link #handle(HandlerType, Handler)}, but with options: queue, priority, timeout, retries. */
    public <T> CarillonBuilder handle(HandlerType<T> type, Handler<T> handler, HandlerOptions options) {
        return add(type, options, false, (payload, run, connection) -> {
            handler.handle(payload, run);
            return null;
        });
    }

    /**
     * Registers a handler that returns a value, which is stored as the result of the run, or an
     * {@link io.carillon.run.Outcome}.
     */
    public <T, R> CarillonBuilder handleReturning(HandlerType<T> type, ReturningHandler<T, R> handler) {
        return handleReturning(type, handler, HandlerOptions.defaults());
    }

    /**
     * Like {@link #handleReturning(HandlerType, ReturningHandler)}, but with options: queue,
     * priority, timeout, retries.
     */
    public <T, R> CarillonBuilder handleReturning(
            HandlerType<T> type, ReturningHandler<T, R> handler, HandlerOptions options) {
        return add(type, options, false, (payload, run, connection) -> handler.handle(payload, run));
    }

    /**
     * Registers a handler whose writes on the given connection commit together with the completion of the run, so that
     * they happen exactly once.
     */
    public <T> CarillonBuilder handleInTransaction(HandlerType<T> type, TransactionalHandler<T> handler) {
        return handleInTransaction(type, handler, HandlerOptions.defaults());
    }

    /**
     * Like {@link #handleInTransaction(HandlerType, TransactionalHandler)}, but with options: queue,
     * priority, timeout, retries.
     */
    public <T> CarillonBuilder handleInTransaction(
            HandlerType<T> type, TransactionalHandler<T> handler, HandlerOptions options) {
        return add(type, options, true, (payload, run, connection) -> {
            handler.handle(payload, run, requireNonNull(connection));
            return null;
        });
    }

    /** Registers a workflow with the default options. */
    public <T, R> CarillonBuilder workflow(WorkflowType<T> type, Workflow<T, R> workflow) {
        return workflow(type, workflow, HandlerOptions.defaults());
    }

    /**
     * Registers a workflow with options: queue, priority, timeout, retries. The timeout is that of one execution, from
     * one wait to the next. The retries are those of the code outside of steps; each step has its own.
     */
    public <T, R> CarillonBuilder workflow(WorkflowType<T> type, Workflow<T, R> workflow, HandlerOptions options) {
        return add(type.handlerType(), options, false, workflowHandlers.handler(workflow, options));
    }

    private <T> CarillonBuilder add(
            HandlerType<T> type, HandlerOptions options, boolean transactional, Handlers.HandlerCode<T> handlerCode) {
        requireNonNull(options, "options");
        handlers.add(new Handlers.RegisteredHandler<>(type, options, transactional, handlerCode));
        return this;
    }

    /**
     * Declares a subscription to the events of one type. The handler is called for each of them, as a run whose handler
     * and queue have the name of the subscription. When the instance is created, the subscription is created, or
     * changed if its stored declaration differs. A subscription that is no longer declared stays until it is removed
     * with {@link Events#unsubscribe}; its runs then wait for a node that has the handler.
     */
    public <T> CarillonBuilder subscribe(String name, EventType<T> type, Handler<Event<T>> handler, Subscribe options) {
        return subscribe(name, type, handler, options, HandlerOptions.defaults());
    }

    /**
     * Like {@link #subscribe(String, EventType, Handler, Subscribe)}, but with options of the handler: queue, priority,
     * timeout, retries.
     */
    public <T> CarillonBuilder subscribe(
            String name,
            EventType<T> type,
            Handler<Event<T>> handler,
            Subscribe options,
            HandlerOptions handlerOptions) {
        return addSubscription(
                name,
                EventHandlers.pattern(type),
                options,
                new Handlers.RegisteredHandler<Event<T>>(
                        EventHandlers.<T>handlerType(name),
                        requireNonNull(handlerOptions, "handlerOptions"),
                        false,
                        (event, run, connection) -> {
                            handler.handle(event, run);
                            return null;
                        },
                        eventHandlers.typed(type)));
    }

    /**
     * Like {@link #subscribe(String, EventType, Handler, Subscribe)}, but starts a workflow for each event, whose input
     * is the event. With {@link Subscribe#inOrder()}, a workflow starts when the one before it has ended.
     */
    public <T> CarillonBuilder subscribeWorkflow(
            String name, EventType<T> type, Workflow<Event<T>, ?> workflow, Subscribe options) {
        HandlerOptions handlerOptions = HandlerOptions.defaults();
        return addSubscription(
                name,
                EventHandlers.pattern(type),
                options,
                new Handlers.RegisteredHandler<Event<T>>(
                        EventHandlers.<T>handlerType(name),
                        handlerOptions,
                        false,
                        workflowHandlers.handler(workflow, handlerOptions),
                        eventHandlers.typed(type)));
    }

    /**
     * Declares a subscription to all events that a pattern selects. The handler receives the encoded data of the
     * events.
     */
    public CarillonBuilder subscribe(
            String name, EventPattern pattern, Handler<Event<Payload>> handler, Subscribe options) {
        return subscribe(name, pattern, handler, options, HandlerOptions.defaults());
    }

    /**
     * Like {@link #subscribe(String, EventPattern, Handler, Subscribe)}, but with options of the handler: queue,
     * priority, timeout, retries.
     */
    public CarillonBuilder subscribe(
            String name,
            EventPattern pattern,
            Handler<Event<Payload>> handler,
            Subscribe options,
            HandlerOptions handlerOptions) {
        return addSubscription(
                name,
                pattern,
                options,
                new Handlers.RegisteredHandler<Event<Payload>>(
                        EventHandlers.<Payload>handlerType(name),
                        requireNonNull(handlerOptions, "handlerOptions"),
                        false,
                        (event, run, connection) -> {
                            handler.handle(event, run);
                            return null;
                        },
                        eventHandlers.untyped()));
    }

    /**
     * Declares a subscription whose events are sent to an endpoint of webhooks as CloudEvents 1.0, signed with its
     * secrets. A node with the handler of webhooks and this endpoint sends them.
     */
    public CarillonBuilder subscribe(
            String name, EventPattern pattern, SubscriptionTarget.Endpoint endpoint, Subscribe options) {
        Names.check("subscription", name);
        requireNonNull(options, "options");
        eventHandlers.add(name, pattern, requireNonNull(endpoint, "endpoint"), options);
        return this;
    }

    private CarillonBuilder addSubscription(
            String name, EventPattern pattern, Subscribe options, Handlers.RegisteredHandler<?> handler) {
        requireNonNull(options, "options");
        handlers.add(handler);
        eventHandlers.add(name, pattern, new SubscriptionTarget.Handler(name), options);
        return this;
    }

    /**
     * Declares a relay, which sends the events of a topic to a destination outside of the database, such as Kafka. One
     * node of the cluster at a time sends; {@link #start()} makes this node one that can. When the instance is created,
     * the relay is created. A relay that is no longer declared stays until it is removed with {@link Events#relays}.
     */
    public CarillonBuilder relay(EventRelay relay) {
        relaysAndSources.add(relay);
        return this;
    }

    /**
     * Declares a source, which reads records of a system outside of the database, such as Kafka, and publishes events
     * for them. It reads while the node of this instance runs.
     */
    public CarillonBuilder source(EventSource source) {
        relaysAndSources.add(source);
        return this;
    }

    /**
     * Declares a schedule. When the instance is created, the schedule is created, or changed if its
     * stored definition differs.
     */
    public <T> CarillonBuilder schedule(String name, When when, HandlerType<T> type, T payload) {
        return schedule(name, when, type, payload, ScheduleOptions.defaults());
    }

    /** Like {@link #schedule(String, When, HandlerType, Object)}, but with options: policies, queue, priority. */
    public <T> CarillonBuilder schedule(
            String name, When when, HandlerType<T> type, T payload, ScheduleOptions options) {
        Names.check("schedule", name);
        requireNonNull(options, "options");
        if (schedules.containsKey(name)) throw duplicateSchedule(name);
        schedules.put(name, api -> api.define(name, when, type, payload, options));
        return this;
    }

    /**
     * Deletes, when the instance is created, schedules that are no longer declared: those that an earlier version of
     * the application declared for one of the handlers of this instance. Runs that have started continue. Default: they
     * stay, and the log reports them. Applications that share a handler must declare the same schedules for it.
     */
    public CarillonBuilder pruneSchedules() {
        prunesSchedules = true;
        return this;
    }

    /** Like {@link #schedule(String, When, NewEvent, ScheduleOptions)}, with the default options. */
    public CarillonBuilder schedule(String name, When when, NewEvent<?> event) {
        return schedule(name, when, event, ScheduleOptions.defaults());
    }

    /**
     * Declares a schedule that publishes an event at each tick. The end of the tick and the event commit together: each
     * tick that succeeded has published one event.
     */
    public CarillonBuilder schedule(String name, When when, NewEvent<?> event, ScheduleOptions options) {
        Names.check("schedule", name);
        requireNonNull(options, "options");
        requireNonNull(event, "event");
        if (event.type().topic().versioned() && !publishesBySchedule) {
            publishesBySchedule = true;
            eventHandlers.addVersionedPublisher(handlers);
        }
        if (schedules.containsKey(name)) throw duplicateSchedule(name);
        schedules.put(name, api -> api.define(name, when, event, options));
        return this;
    }

    private static CarillonException duplicateSchedule(String name) {
        return new CarillonException(
                ErrorCode.DUPLICATE_SCHEDULE,
                "Two schedules are named '%s'. Schedule names must be unique.".formatted(name));
    }

    /** Sets the default project of this instance. Default: {@code default}. */
    public CarillonBuilder project(String project) {
        this.project = Names.check("project", project);
        return this;
    }

    /** Sets how many runs this node executes at the same time. Default: 50, or 256 if the JDK has virtual threads. */
    public CarillonBuilder concurrency(int runs) {
        return change(config -> config.concurrency(runs));
    }

    /**
     * Sets how long {@link Carillon#close()} waits for running attempts before it releases their runs.
     * Default: 30 seconds.
     */
    public CarillonBuilder shutdownTimeout(Duration timeout) {
        return change(config -> config.shutdownTimeout(timeout));
    }

    /**
     * Sets how far ahead ticks are stored, between 20 seconds and 1 hour. Default: 2 minutes. A longer look-ahead
     * bridges longer interruptions of planning but stores more ticks.
     */
    public CarillonBuilder lookAhead(Duration ahead) {
        return change(config -> config.lookAhead(ahead));
    }

    /** Sets whether every node plans (the default) or one node plans for the cluster. */
    public CarillonBuilder planning(NodeConfig.Planning planning) {
        return change(config -> config.planning(planning));
    }

    /**
     * Sets how this process is woken when runs become due. Default: LISTEN and NOTIFY. {@link Carillon#wakeup(Wakeup)}
     * changes it later.
     */
    public CarillonBuilder wakeup(Wakeup wakeup) {
        return change(config -> config.wakeup(wakeup));
    }

    /**
     * Sets all settings of the node. A setting made with {@link #concurrency}, {@link #shutdownTimeout},
     * {@link #lookAhead}, {@link #planning} or {@link #wakeup} wins over this one, whatever the order of the calls.
     */
    public CarillonBuilder config(NodeConfig config) {
        this.config = requireNonNull(config, "config");
        return this;
    }

    private CarillonBuilder change(UnaryOperator<NodeConfig> change) {
        // Rejects an invalid value here instead of at the start.
        requireNonNull(change.apply(NodeConfig.defaults()));
        UnaryOperator<NodeConfig> earlier = changes;
        changes = config -> change.apply(earlier.apply(config));
        return this;
    }

    /** Returns the settings of the node: those of {@link #config}, changed by the methods for single settings. */
    NodeConfig nodeConfig() {
        return changes.apply(config);
    }

    /** Sets how the database schema is handled at the start: migrate (the default), only validate, or ignore. */
    public CarillonBuilder schema(SchemaMode mode) {
        this.schema = mode;
        return this;
    }

    /**
     * Sets the codec for payloads and results. Default: JSON, written by the Jackson of the class path (Jackson 3, or
     * Jackson 2.15 or later).
     */
    public CarillonBuilder codec(PayloadCodec codec) {
        this.codec = requireNonNull(codec, "codec");
        return this;
    }

    /** Returns the codec. The default one needs a JSON library, so an application with its own codec needs none. */
    PayloadCodec codec() {
        return codec == null ? new JsonCodec() : codec;
    }

    /**
     * Adds a listener for the attempts of this node. May be called several times. A listener that also implements
     * {@link ScheduleListener} receives schedule events too.
     */
    public CarillonBuilder listener(RunListener listener) {
        listeners = listeners.withRunListener(listener);
        return listener instanceof ScheduleListener both ? scheduleListener(both) : this;
    }

    /**
     * Adds a listener for schedule changes made by this process and for planned instants that this process
     * records as missed or skipped. A non-blocking listener also receives the ticks that this process plans. May
     * be called several times.
     */
    public CarillonBuilder scheduleListener(ScheduleListener listener) {
        listeners = listeners.withScheduleListener(listener);
        return this;
    }

    /**
     * Adds a propagator that carries context, such as a trace or the caller's authorization, from the enqueuing thread
     * to the executing thread. May be called several times.
     */
    public CarillonBuilder contextPropagator(ContextPropagator propagator) {
        contextPropagators.add(propagator);
        return this;
    }

    /**
     * Adds a source of issues for {@link Carillon#health()}, such as handlers that know which of the systems that they
     * call are down. It is called by each check and must answer immediately. May be called several times.
     */
    public CarillonBuilder healthIssues(Supplier<List<Health.Issue>> source) {
        healthIssues.add(source);
        return this;
    }

    /** Adds an action that is called with the instance when it was created, before a node starts. */
    public CarillonBuilder onBuilt(Consumer<Carillon> action) {
        builtActions.add(requireNonNull(action, "action"));
        return this;
    }

    /** Sets the display name of this node. Default: host name and process id. Several nodes may share a name. */
    public CarillonBuilder nodeName(String name) {
        this.nodeName = Names.check("node", name);
        return this;
    }

    /**
     * Gives the engine its own connection pool. The data source given to {@link Carillon#on} then serves only
     * transactional handlers.
     */
    public CarillonBuilder engineDataSource(DataSource source) {
        this.engineDataSource = source;
        return this;
    }

    /**
     * Sets a data source without a transaction pooler for LISTEN. The engine keeps one connection of it open. Default:
     * the data source of the engine.
     */
    public CarillonBuilder listenDataSource(DataSource source) {
        this.listenDataSource = source;
        return this;
    }

    /**
     * Creates the instance: migrates the schema and stores the declared schedules. Starts no thread. The instance can
     * enqueue, manage runs and schedules, and execute with {@link Carillon#runDue(Duration)}.
     */
    public Carillon build() {
        startsNode = false;
        return Carillon.of(this);
    }

    /**
     * Creates the instance like {@link #build()} and starts a node that plans and executes until the instance is
     * closed. In the wake-up mode {@code http} no node is started.
     */
    public Carillon start() {
        startsNode = nodeConfig().wakeup().mode() != Wakeup.Mode.HTTP;
        Carillon carillon = Carillon.of(this);
        try {
            if (startsNode) carillon.startEngine();
            return carillon;
        } catch (RuntimeException | Error failure) {
            carillon.close();
            throw failure;
        }
    }
}
