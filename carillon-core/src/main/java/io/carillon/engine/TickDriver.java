package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.Transition;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Claimed;
import io.carillon.store.Ended;
import io.carillon.store.HeldRun;
import io.carillon.store.LaneDue;
import io.carillon.store.Look;
import io.carillon.store.RunStore;
import io.carillon.store.Storage;
import io.carillon.store.Verdict;
import io.carillon.value.DatabaseClock;
import io.carillon.value.Uuid7;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Plans, claims and executes on the caller's thread until nothing is due or the budget is spent: for serverless functions and external crons. There is no
 * heartbeat, so each run is leased for half a minute; a helper thread that lives as long as the call renews the leases and enforces the timeouts. What was
 * claimed and not started goes back at once.
 */
public final class TickDriver {
    /** How many runs are claimed at a time: so many for each lane that is due, up to a bound. */
    private static final int CLAIM = 10;

    private static final int MOST = 100;
    private static final int CRASH_LIMIT = 3;
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration RENEW = Duration.ofSeconds(10);

    private final Storage storage;
    private final HandlerBook handlers;
    private final EngineParts parts;
    private final Listeners.Told told;
    private final DatabaseClock clock;

    public TickDriver(EngineParts parts) {
        this.storage = parts.storage();
        this.clock = storage.clock();
        this.handlers = new HandlerBook(parts.handlers());
        this.parts = parts;
        this.told = parts.listeners().here();
    }

    /** What one tick did. */
    public record Result(int processed, int errors) {}

    /** Works for at most about this long; an attempt that runs when the budget ends is not interrupted. */
    public Result tick(Duration budget) {
        long deadline = System.nanoTime() + budget.toNanos();
        storage.housekeeping().keepPartitions(1);
        storage.housekeeping().keepRoom();
        storage.nodes().sweep(CRASH_LIMIT);
        // No node registers here: what waits for want of a handler that this process has would wait for ever.
        storage.nodes().wake(handlers.names());
        PlanningLoop planning = new PlanningLoop(
                storage.plans(), parts.planner(), (lane, at) -> {}, () -> Duration.ofHours(1), told.schedules());
        planning.onPlanned(plan -> PlanningLoop.tell(told.runs(), plan));
        planning.plan();
        Turn turn = new Turn(Uuid7.next(), deadline);
        try (Keeper keeper = new Keeper(turn)) {
            keeper.start();
            while (turn.round()) {
                // Until nothing is due, or the time is up.
            }
        }
        turn.reporter.report();
        return new Result(turn.processed, turn.errors.get());
    }

    /** Keeps the leases of one call, and stops attempts that exceed their timeout. */
    private final class Keeper extends Loop {
        private static final long ROUND_NANOS = 100_000_000L;
        private final Turn turn;
        private long renewed = System.nanoTime();

        Keeper(Turn turn) {
            super("tick", true);
            this.turn = turn;
        }

        @Override
        void turn() throws InterruptedException {
            for (Held held : turn.holding.all()) if (held.started()) Warden.stopLate(held, turn.runner);
            if (System.nanoTime() - renewed >= RENEW.toNanos()) renew();
            sleep(ROUND_NANOS);
        }

        private void renew() {
            List<HeldRun> held = turn.holding.all().stream().map(Holding::row).toList();
            for (HeldRun lost : held.isEmpty() ? held : storage.nodes().renew(turn.owner, held, LEASE))
                turn.holding.find(lost.run()).ifPresent(one -> one.stop(Held.Stop.LOST, "the lease was lost"));
            renewed = System.nanoTime();
        }
    }

    private final class Turn implements AttemptRunner.Finish {
        private final UUID owner;
        private final long deadline;
        private final RunStore runs = storage.runs();
        private final AttemptRunner runner;
        private final Gatekeeper gatekeeper =
                new Gatekeeper(storage.gates(), clock, new Crowd(), lane -> {}, told.schedules());
        private final LoadReporter reporter;
        private final Set<String> strangers = new HashSet<>();
        private final LaneBook book = new LaneBook(this::room);
        /** The handlers that have due runs in a lane. */
        private final Map<Lane, Set<String>> wanted = new HashMap<>();

        private Set<Lane> limited = Set.of();
        private int processed;
        private final AtomicInteger errors = new AtomicInteger();
        private final Holding holding = new Holding();

        Turn(UUID owner, long deadline) {
            this.owner = owner;
            this.deadline = deadline;
            this.reporter = new LoadReporter(storage.lanes(), () -> owner, () -> {});
            TransactionalCalls transactions = new TransactionalCalls(parts.connections(), runs, 1);
            this.runner = new AttemptRunner(handlers, this, transactions, told.runs());
        }

        boolean round() {
            if (timeIsUp()) return false;
            gatekeeper.lookAround();
            long sent = System.nanoTime();
            Look look = storage.lanes().look(Instant.MIN);
            clock.observe(look.now(), sent);
            reporter.seen(look.broken());
            boolean any = look.suspects() && suspect();
            if (timeIsUp()) return false;
            see(look);
            return work(look.now()) || any;
        }

        /** Tells the book which lanes are due, and remembers for which handlers. */
        private void see(Look look) {
            List<LaneDue> due = due(look).stream()
                    .filter(one -> !one.readyAt().isAfter(look.now()) && !strangers.contains(one.handler()))
                    .toList();
            limited = look.limited();
            book.weigh(look.weights());
            book.looked(due, look.seenUntil());
            wanted.clear();
            due.forEach(one ->
                    wanted.computeIfAbsent(one.lane(), lane -> new HashSet<>()).add(one.handler()));
        }

        /** Claims from the lanes that are due, a share of them at a time, until something was executed; false: nothing could be claimed. */
        private boolean work(Instant now) {
            int want = Math.min(MOST, CLAIM * wanted.size());
            boolean any = false;
            while (!any && !timeIsUp()) {
                List<ClaimRequest.Quota> quotas = book.take(want, now);
                if (quotas.isEmpty()) break;
                // What has a limit is not claimed before it can run: it would hold a place that others could use.
                any = execute(storage.lanes()::claim, quotas, limited::contains);
                any |= execute(runs::claim, quotas, lane -> !limited.contains(lane));
            }
            return any;
        }

        /** Claims from some of these lanes and executes what it got, by turns of projects and lanes; what was not started when the time is up goes back. */
        private boolean execute(
                Function<ClaimRequest, Claimed> from, List<ClaimRequest.Quota> quotas, Predicate<Lane> which) {
            List<ClaimRequest.Quota> some = quotas.stream()
                    .filter(quota -> which.test(quota.lane()))
                    .map(quota -> quota.of(wanted.getOrDefault(quota.lane(), Set.of())))
                    .toList();
            if (some.isEmpty() || timeIsUp()) return false;
            List<Attempt> claimed = from.apply(ClaimRequest.leased(owner, some, strangers, LEASE))
                    .attempts();
            List<Held> held = claimed.stream()
                    .map(attempt -> new Held(owner, attempt, clock))
                    .toList();
            held.forEach(holding::add);
            ReadyQueue queue = new ReadyQueue(1, true);
            queue.add(held, false);
            for (Held next = queue.poll(); next != null; next = queue.poll()) {
                if (timeIsUp()) {
                    List<Held> rest = new ArrayList<>(queue.clear());
                    rest.add(next);
                    holding.handBack(runs, owner, rest);
                    break;
                }
                run(next);
                queue.ended(next);
            }
            return !claimed.isEmpty();
        }

        private int room(Lane lane) {
            return limited.contains(lane) ? 1 : MOST;
        }

        /** One at a time, as everywhere; false: all of them are held, paused or foreign. */
        private boolean suspect() {
            Optional<Attempt> suspect = runs.claimSuspect(owner, handlers.names(), LEASE);
            suspect.ifPresent(attempt -> {
                Held held = new Held(owner, attempt, clock);
                holding.add(held);
                run(held);
            });
            return suspect.isPresent();
        }

        /** Where the head is full, a lane that is paused or foreign may fill it and hide all others. */
        private List<LaneDue> due(Look look) {
            return look.full() ? storage.lanes().scan() : look.lanes();
        }

        private void run(Held held) {
            try {
                Attempt attempt = held.attemptValue();
                if (handlers.find(attempt).isEmpty()) {
                    strangers.addAll(runs.passOn(owner, List.of(attempt)));
                    return;
                }
                // Taken over while it waited here.
                if (held.stopped() != null) return;
                processed++;
                runner.run(held);
                reporter.reportIfUrgent();
            } finally {
                holding.remove(held);
            }
        }

        private boolean timeIsUp() {
            return System.nanoTime() - deadline >= 0;
        }

        @Override
        public void submit(Held held, Ended ended) {
            holding.remove(held);
            Verdict verdict = Verdict.LOCKED;
            // The run is leased for longer than this; what stays locked then is repeated when the lease is over.
            for (int turn = 0; turn < 5 && verdict == Verdict.LOCKED; turn++)
                verdict = runs.apply(owner, List.of(ended)).get(0);
            if (verdict == Verdict.ACCEPTED) told(held, ended.transition());
            boolean failed =
                    ended.transition() instanceof Transition.Retry || ended.transition() instanceof Transition.Die;
            if (failed || verdict != Verdict.ACCEPTED) errors.incrementAndGet();
        }

        @Override
        public void handBack(Held held) {
            holding.handBack(runs, owner, List.of(held));
        }

        @Override
        public void done(Held held, Transition transition) {
            told(held, transition);
        }

        private void told(Held held, Transition transition) {
            reporter.ended(held.attemptValue().lane(), transition);
            told.runs().ended(held.attemptValue(), transition, held.sinceStart());
        }
    }
}
