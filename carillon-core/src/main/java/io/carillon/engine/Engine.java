package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.Enqueue;
import io.carillon.run.Gate;
import io.carillon.run.Lane;
import io.carillon.run.NewRun;
import io.carillon.run.RunId;
import io.carillon.run.Transition;
import io.carillon.schedule.ScheduleEvent;
import io.carillon.store.GateName;
import io.carillon.store.NodeInfo;
import io.carillon.store.Signal;
import io.carillon.store.Storage;
import io.carillon.store.Swept;
import io.carillon.store.Wakeup;
import io.carillon.value.DatabaseClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One running node: puts the loops together, starts them in order and stops them in order. */
public final class Engine implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Engine.class);

    private final EngineConfig config;
    private final Storage storage;
    private final EngineParts.NodeIdentity identity;
    private final Node node;
    private final ReadyQueue queue;
    private final LongAdder ticksPlanned = new LongAdder();
    private final LaneBook book;
    private final Workers workers;
    private final Completer completer;
    private final Claimer claimer;
    private final Newcomers newcomers;
    private final Gatekeeper gatekeeper;
    private final Heart heart;
    private final Rescuer rescuer;
    private final PlanningLoop planning;
    private final Warden warden;
    private final Housekeeper housekeeper;
    private final Housekeeper.SchemaWatch schemaWatch;
    private final Waking waking;
    private final Waking.Recruiter recruiter;
    private final Teller teller;
    private final LoadReporter reporter;

    public Engine(EngineParts parts, EngineConfig config) {
        this.config = config;
        this.storage = parts.storage();
        this.identity = parts.identity();
        DatabaseClock clock = storage.clock();
        long queues = parts.handlers().values().stream()
                .map(BoundHandler::queue)
                .distinct()
                .count();
        queue = new ReadyQueue(config.slots().concurrency(), queues > 1);
        book = new LaneBook(queue::room);
        Holding holding = new Holding();
        node = new Node(holding, new HandlerBook(parts.handlers()), clock, this::dispatch);
        teller = new Teller(parts.listeners());
        Listeners.Told told = teller.later();
        completer = new Completer(storage.runs(), holding, told.runs());
        TransactionalCalls transactions = new TransactionalCalls(
                parts.connections(), storage.runs(), Math.max(1, config.slots().transactional()));
        AttemptRunner runner = new AttemptRunner(node.handlers(), completer, transactions, told.runs());
        // The appetite is asked by the claimer and fed by the workers, which do not exist yet: hence the small detour.
        Appetite[] appetite = new Appetite[1];
        workers = new Workers(queue, config.slots().concurrency(), held -> {
            appetite[0].consumed();
            run(runner, held);
        });
        queue.transactional(
                held -> node.handlers().find(held.attemptValue()).stream().anyMatch(BoundHandler::transactional),
                Math.max(1, config.slots().transactional()));
        appetite[0] = new Appetite(workers, queue, completer, config.slots());
        waking = new Waking(storage.wake(), clock, config);
        recruiter = new Waking.Recruiter(node.crowd(), waking.announcer());
        Claims claims = new Claims(storage, book, node, recruiter);
        claimer = new Claimer(storage, claims, book, node, appetite[0], recruiter, waking);
        newcomers = new Newcomers(claims, book, node, appetite[0], claimer::reconcileSoon);
        completer.onWritten(claimer::wake);
        holding.onSkipped(claimer::reconcileSoon);
        queue.onRoom(this::roomFor);
        reporter = new LoadReporter(storage.lanes(), node::id, claimer::lookNow);
        completer.onEnded(this::ended);
        claimer.onBroken(reporter::seen);
        completer.onAgain((attempt, pause) -> again(attempt, clock.now().plus(pause)));
        gatekeeper = new Gatekeeper(storage.gates(), clock, node.crowd(), this::opened, told.schedules());
        completer.onLeft(gatekeeper::left);
        claimer.onGates(gatekeeper::seen);
        Runnable swept = () -> {
            claimer.lookNow();
            gatekeeper.lookNow();
        };
        rescuer = new Rescuer(storage, node, swept, () -> waking.announcer().signal(new Signal.Look()));
        heart = new Heart(storage.nodes(), node, config.heartbeat(), this::introduce, rescuer::due);
        heart.onDeath(this::giveUpAll);
        Duration plan = config.pace().plan();
        planning = new PlanningLoop(
                storage.plans(),
                parts.planner(),
                this::hintHere,
                () -> node.crowd().stretched(plan, plan.multipliedBy(6)),
                told.schedules());
        planning.onPlanned(written -> {
            ticksPlanned.add(written.ticks().size());
            PlanningLoop.tell(told.runs(), written);
        });
        if (config.planning() == EngineConfig.Planning.LEADER) planning.onlyAsLeader(node::id);
        clock.onSetBack(this::clockSetBack);
        node.crowd().onShrunk(() -> {
            planning.planNow();
            claimer.lookNow();
        });
        warden = new Warden(storage.runs(), holding, runner, workers, queue::slow);
        housekeeper = new Housekeeper(storage.housekeeping(), config.retention(), completer::ended);
        schemaWatch = new Housekeeper.SchemaWatch(storage::outdated, this::leaveWorkToNewerNodes);
        heart.onOutdated(schemaWatch::due);
    }

    /** Starts the loops; the node is registered and partitions exist when it returns. */
    public void start() {
        housekeeper.prepare();
        heart.register();
        lasting().forEach(Loop::start);
        waking.start(new Waking.Ears(this::react, lane -> hintHere(lane, Instant.EPOCH), claimer::lookNow));
        log.info(
                "node started node={} name={} handlers={} slots={} wakeup={}",
                node.id(),
                identity.name(),
                node.handlers().names().size(),
                config.slots().concurrency(),
                waking.wakeup().mode().text());
    }

    /** Those that live as long as the node; what wakes it may change. */
    private List<Loop> lasting() {
        return List.of(
                heart,
                rescuer,
                completer,
                warden,
                planning,
                housekeeper,
                schemaWatch,
                gatekeeper,
                reporter,
                claimer,
                newcomers,
                teller);
    }

    /** The tables belong to a newer version: what this node holds goes on, and it takes and plans nothing more. */
    private void leaveWorkToNewerNodes() {
        claimer.stopClaiming();
        queue.close().forEach(completer::handBack);
        Loop.end(List.of(planning, newcomers), Wait.PATIENTLY);
    }

    private Stream<Loop> loops() {
        return Stream.concat(lasting().stream(), waking.loops().stream());
    }

    /** Changes what wakes this node while it runs; {@link Wakeup.Mode#HTTP} has no node, so close it for that. */
    public void wakeBy(Wakeup wakeup) {
        waking.use(wakeup);
        try {
            heart.register();
        } catch (RuntimeException unsaid) {
            log.warn("the new wake-up mode is not shown to others node={}", node.id(), unsaid);
        }
    }

    private NodeInfo introduce(UUID id) {
        return new NodeInfo(
                id,
                identity.name(),
                identity.host(),
                identity.pid(),
                identity.version(),
                node.handlers().names(),
                config.slots().concurrency(),
                waking.wakeup().mode().text());
    }

    private void dispatch(List<Held> claimed, boolean ahead) {
        queue.add(claimed, ahead).forEach(completer::handBack);
        workers.look();
    }

    /** What fails without an outcome is held no longer, so that it is handed back. */
    private void run(AttemptRunner runner, Held held) {
        boolean fine = false;
        try {
            runner.run(held);
            fine = true;
        } finally {
            if (!fine) {
                node.holding().removeUnconfirmed(held);
                claimer.reconcileSoon();
            }
        }
    }

    /** Instants that were read before the database clock was set back may lie far ahead. */
    private void clockSetBack() {
        log.warn("database clock was set back; known due times are read again node={}", node.id());
        book.clear();
        claimer.clockSetBack();
        gatekeeper.lookNow();
        planning.planNow();
    }

    /** New work of this process, committed just now: known here at once, and elsewhere in a moment. */
    public void announce(NewRun run) {
        Gate gate = run.gate();
        if (gate != null) {
            gatekeeper.knock(new GateName(run.lane().project(), gate.name()));
            gatekeeper.expect(readyAt(run.due()));
            return;
        }
        tell(run.lane(), readyAt(run.due()));
    }

    private void roomFor(Lane lane) {
        book.room(lane, node.clock().now());
        claimer.wake();
    }

    private void ended(Lane lane, Transition transition) {
        claimer.left(lane);
        reporter.ended(lane, transition);
    }

    private void again(Attempt attempt, Instant at) {
        if (attempt.gate() != null) gatekeeper.expect(at);
        hintHere(attempt.lane(), at);
    }

    private void tell(Lane lane, Instant readyAt) {
        hintHere(lane, readyAt);
        waking.announcer().work(lane, readyAt);
    }

    /** Runs of this lane came through a gate. */
    private void opened(Lane lane) {
        tell(lane, Instant.EPOCH);
    }

    private Instant readyAt(Enqueue.Due due) {
        if (due instanceof Enqueue.Due.At at) return at.instant();
        Duration delay = ((Enqueue.Due.After) due).delay();
        return delay.isZero() ? Instant.EPOCH : node.clock().now().plus(delay);
    }

    /** Tells all nodes, this one included, that schedules changed or work was woken. */
    public void announcePlans() {
        planning.planNow();
        claimer.lookNow();
        gatekeeper.lookNow();
        waking.announcer().signal(new Signal.Look());
    }

    private void hintHere(Lane lane, Instant readyAt) {
        if (book.hint(lane, readyAt, node.clock().now())) newcomers.hinted();
        claimer.hinted();
    }

    private void heard(Signal.Work work) {
        if (!node.crowd().chosen(work.lot())) return;
        if (workers.busy() >= config.slots().concurrency() || queue.room(work.lane()) == 0) recruiter.more(work.lane());
        // What this node has told the others it acts on already.
        if (!waking.own(work)) hintHere(work.lane(), work.readyAt());
    }

    private void react(Signal signal) {
        if (signal instanceof Signal.Work work) heard(work);
        else if (signal instanceof Signal.Knock knock) gatekeeper.knock(knock.gate());
        else if (signal instanceof Signal.Cancel) heart.wake();
        else if (signal instanceof Signal.Plan) planning.planNow();
        else if (signal instanceof Signal.Look) {
            planning.planNow();
            heart.wake();
            gatekeeper.lookNow();
            claimer.lookNow();
        }
    }

    /** Declared dead: what is queued is no longer ours, and what runs shall stop. */
    private void giveUpAll() {
        queue.clear().forEach(node.holding()::remove);
        node.holding().all().forEach(held -> held.stop(Held.Stop.LOST, "this node was declared dead"));
    }

    /** Writes it to the log and tells whoever listens. */
    public void tell(ScheduleEvent event) {
        teller.later().schedules().heard(event);
    }

    /** The id of the current incarnation. */
    public UUID nodeId() {
        return node.id();
    }

    /** How the loops fare. */
    public EngineStatus status() {
        Map<String, EngineStatus.LoopStatus> loops = loops().collect(Collectors.toMap(
                Loop::name,
                loop -> new EngineStatus.LoopStatus(loop.alive(), loop.failing(), loop.turns(), loop.failures())));
        return new EngineStatus(
                loops,
                waking.wakeup().mode(),
                waking.hearing(),
                node.clock().skew(),
                new EngineStatus.Slots(workers.busy(), config.slots().concurrency()),
                node.holding().all().stream()
                        .collect(Collectors.groupingBy(
                                held -> held.attemptValue().lane().queue(), Collectors.counting())),
                planning.leading(),
                counts());
    }

    private EngineStatus.Counts counts() {
        Swept swept = rescuer.total();
        return new EngineStatus.Counts(
                swept.nodes(),
                swept.released(),
                swept.quarantined(),
                ticksPlanned.sum(),
                claimer.looks(),
                claimer.looking());
    }

    /** Which runs this node holds. */
    public List<RunId> holding() {
        return node.holding().all().stream().map(Held::id).toList();
    }

    /**
     * Stops claiming, lets running work finish, hands back the rest without counting an attempt, and says good-bye. Beats go on until the end. Without a
     * database there is nothing to wait for: no result can be written and nothing handed back, and the others rescue it all.
     */
    @Override
    public void close() {
        claimer.stopClaiming();
        queue.close().forEach(completer::handBack);
        Wait wait = new Wait(heart::cutOff);
        BooleanSupplier idle = () -> node.holding().size() == 0;
        wait.until(idle, config.pace().drain());
        node.holding().all().forEach(held -> held.stop(Held.Stop.DRAINED, "the node is stopping"));
        wait.until(idle, Duration.ofSeconds(1));
        node.holding().all().stream().filter(Held::running).filter(Held::end).forEach(completer::handBack);
        wait.until(idle, Duration.ofSeconds(5));
        quietly("stop hearing", () -> waking.stopHearing(wait));
        Loop.end(
                List.of(
                        claimer,
                        newcomers,
                        gatekeeper,
                        reporter,
                        planning,
                        rescuer,
                        warden,
                        housekeeper,
                        schemaWatch,
                        waking.announcer()),
                wait);
        // A claim that was under way may have been answered only now.
        wait.until(idle, Duration.ofSeconds(5));
        Loop.end(List.of(completer), wait);
        Loop.end(List.of(heart), wait);
        // A listener that hangs is not waited for.
        wait.until(teller::idle, Duration.ofSeconds(2));
        Loop.end(List.of(teller), new Wait(() -> true));
        quietly("stop its workers", workers::close);
        if (!heart.cutOff()) quietly("hand back what was claimed without an answer", claimer::handBackAll);
        quietly("say good-bye", heart::retire);
        log.info("node stopped node={}", node.id());
    }

    /** A stop goes on to its end, whatever fails on the way: half a stopped node holds threads and connections for ever. */
    private void quietly(String what, Runnable step) {
        try {
            step.run();
        } catch (Throwable failure) {
            log.warn("the node could not {} while it stopped node={}", what, node.id(), failure);
        }
    }
}
