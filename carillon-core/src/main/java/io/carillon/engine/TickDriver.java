package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.Transition;
import io.carillon.store.ClaimRequest;
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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Plans, claims and executes on the caller's thread until nothing is due or the budget is spent: for serverless functions and external crons. There is no
 * heartbeat, so each run is leased for half a minute; a helper thread that lives as long as the call renews the leases and enforces the timeouts. What was
 * claimed and not started goes back at once.
 */
public final class TickDriver {
    private static final int CLAIM = 10;
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
            List<HeldRun> held =
                    turn.holding.all().stream().map(Holding::row).toList();
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
            List<LaneDue> due = due(look).stream()
                    .filter(one -> !one.readyAt().isAfter(look.now()) && !strangers.contains(one.handler()))
                    .toList();
            List<ClaimRequest.Quota> quotas = quotas(due, look.weights());
            if (quotas.isEmpty()) return any;
            List<Attempt> claimed = claim(quotas, look.limited());
            List<Held> held = claimed.stream()
                    .map(attempt -> new Held(owner, attempt, clock))
                    .toList();
            held.forEach(holding::add);
            for (int i = 0; i < held.size(); i++) {
                if (timeIsUp()) {
                    held.subList(i, held.size()).forEach(holding::remove);
                    runs.handBack(owner, claimed.subList(i, claimed.size()));
                    return false;
                }
                run(held.get(i));
            }
            return any || !claimed.isEmpty();
        }

        /** Ten of each class of each lane, or so many by weight. */
        private static List<ClaimRequest.Quota> quotas(List<LaneDue> due, Map<Lane, Integer> weights) {
            int all = due.stream()
                    .mapToInt(one -> weights.getOrDefault(one.lane(), 1))
                    .sum();
            return due.stream()
                    .map(one -> new ClaimRequest.Quota(
                            one.lane(),
                            one.priority(),
                            Math.max(1, CLAIM * due.size() * weights.getOrDefault(one.lane(), 1) / all),
                            Instant.MIN,
                            Set.of(one.handler())))
                    .toList();
        }

        /** What has no limit first; only if there is nothing left of it, what has one: that must not wait here while others could run it. */
        private List<Attempt> claim(List<ClaimRequest.Quota> quotas, Set<Lane> limited) {
            List<ClaimRequest.Quota> free = quotas.stream()
                    .filter(quota -> !limited.contains(quota.lane()))
                    .toList();
            List<Attempt> claimed =
                    runs.claim(ClaimRequest.leased(owner, free, strangers, LEASE)).attempts();
            if (!claimed.isEmpty() || free.size() == quotas.size()) return claimed;
            List<ClaimRequest.Quota> under = quotas.stream()
                    .filter(quota -> limited.contains(quota.lane()))
                    .map(quota ->
                            new ClaimRequest.Quota(quota.lane(), quota.priority(), 1, quota.low(), quota.handlers()))
                    .toList();
            return storage.lanes()
                    .claim(ClaimRequest.leased(owner, under, strangers, LEASE))
                    .attempts();
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
