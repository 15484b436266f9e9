package io.carillon.it.store;

import io.carillon.run.Attempt;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Policies;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
import io.carillon.store.Storage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Several threads plan, edit, pause, resume, claim, end, cancel, die and sweep at random. The clock stands while they do and moves between the phases, so
 * that it is known which definition each instant belongs to.
 */
final class LedgerStorm extends PlanningContract {
    private static final int THREADS = 4;
    private static final int DEEDS = 10;
    private static final List<Duration> STEPS = List.of(
            Duration.ZERO,
            Duration.ofSeconds(3),
            Duration.ofSeconds(20),
            Duration.ofSeconds(100),
            Duration.ofSeconds(400),
            Duration.ofHours(3));

    private static final Map<String, List<When>> TIMINGS = Map.of(
            "tens", List.of(When.every(Duration.ofSeconds(10)), When.every(Duration.ofSeconds(15))),
            "cron", List.of(When.cron("*/7 * * * * *", "UTC"), When.cron("30 */2 * * * *", "Europe/Paris")),
            "rare",
                    List.of(
                            When.every(Duration.ofSeconds(45)).jitter(Duration.ofSeconds(20)),
                            When.every(Duration.ofMinutes(10))));

    private final StoreBench bench;
    private final Random random;
    private final List<Sailor> sailors = new ArrayList<>();
    private final Map<String, List<Coverage.Span>> spans = new HashMap<>();
    private final Map<String, UUID> runOfInstant = new ConcurrentHashMap<>();
    private final List<String> doubles = java.util.Collections.synchronizedList(new ArrayList<>());

    LedgerStorm(StoreBench bench, long seed) {
        this.bench = bench;
        this.random = new Random(seed);
        for (String name : TIMINGS.keySet()) {
            Promise promise = promise(name, 0, 0);
            store(promise);
            spans.put(
                    name,
                    new ArrayList<>(List.of(new Coverage.Span(StoreBench.NOON, StoreBench.NOON, promise.when()))));
        }
        for (int i = 0; i < THREADS; i++) sailors.add(new Sailor(i % 2 == 0 ? bench.storage() : bench.another()));
    }

    @Override
    StoreBench bench() {
        return bench;
    }

    private static Promise promise(String name, int timing, int edition) {
        Policies policies = Policies.defaults()
                .missed(Map.of("rare", Missed.SKIP, "tens", Missed.RUN_ONCE, "cron", Missed.RUN_ALL)
                        .get(name))
                .runAll(new Policies.RunAll(5, Duration.ofSeconds(2)));
        return Promise.of(TIMINGS.get(name).get(timing))
                .named(name)
                .policies(policies)
                .payload("edition " + edition);
    }

    /** All do something for a while, then time passes. Either somebody edits or somebody cancels ahead of time: both at once would leave T unknown. */
    void phase() {
        long seed = random.nextLong();
        boolean edits = random.nextBoolean();
        Map<String, Instant> lines = new HashMap<>();
        for (String name : TIMINGS.keySet()) lines.put(name, line(name));
        Together.run(THREADS, thread -> {
            Random own = new Random(seed + thread);
            for (int i = 0; i < DEEDS; i++) sailors.get(thread).deed(own, edits);
            return null;
        });
        for (String name : TIMINGS.keySet()) if (edits) turn(name, lines.get(name));
        bench.clock().advance(STEPS.get(random.nextInt(STEPS.size())));
    }

    /** T: the clock, or the latest instant that has its line already. */
    private Instant line(String name) {
        return ledger(name).stream()
                .filter(entry -> !entry.state().equals("waiting"))
                .map(LedgerEntry::to)
                .reduce(bench.clock().now(), (one, other) -> one.isAfter(other) ? one : other);
    }

    /** Instants up to T are the business of the definition that held before. */
    private void turn(String name, Instant line) {
        List<Coverage.Span> known = spans.get(name);
        Coverage.Span last = known.get(known.size() - 1);
        When when = schedule(name).definition().when();
        if (when.equals(last.when())) return;
        known.set(known.size() - 1, new Coverage.Span(last.after(), line, last.when()));
        known.add(new Coverage.Span(line, line, when));
    }

    /** The storm is over: everything is resumed and planned. */
    void calm() {
        for (String name : TIMINGS.keySet()) storage().schedules().resume(PROJECT, name);
        planAll();
    }

    List<String> faults() {
        List<String> faults = new ArrayList<>(doubles);
        for (String name : TIMINGS.keySet()) {
            List<Coverage.Span> known = spans.get(name);
            Coverage.Span last = known.get(known.size() - 1);
            Instant cursor = schedule(name).progress().cursor();
            known.set(known.size() - 1, new Coverage.Span(last.after(), cursor, last.when()));
            Coverage.faults(ledger(name), known).forEach(fault -> faults.add(name + ": " + fault));
        }
        return faults;
    }

    /** One thread with a node of its own, what it holds, and a plan it may have made long ago. */
    private final class Sailor {
        private final Storage door;
        private final List<Attempt> held = new ArrayList<>();
        private List<TickPlan> stalled = List.of();
        private UUID node = node();

        Sailor(Storage door) {
            this.door = door;
        }

        void deed(Random own, boolean edits) {
            switch (own.nextInt(12)) {
                case 0, 1 -> door.plans().write(plans(door.plans().due(PLANNER.lookAhead(), 500)));
                case 2 -> {
                    door.plans().write(stalled);
                    stalled = plans(door.plans().due(PLANNER.lookAhead(), 500));
                }
                case 3, 4 -> claimSome(own);
                case 5, 6 -> endSome(own);
                case 7 -> {
                    if (edits) edit(own);
                }
                case 8 -> door.schedules().pause(PROJECT, any(own), new Schedule.Pause(Instant.EPOCH, "x", null, null));
                case 9 -> door.schedules().resume(PROJECT, any(own));
                case 10 -> cancelSome(own, !edits);
                default -> die(own);
            }
        }

        private String any(Random own) {
            return List.copyOf(new java.util.TreeSet<>(TIMINGS.keySet())).get(own.nextInt(TIMINGS.size()));
        }

        private void edit(Random own) {
            Promise promise = promise(any(own), own.nextInt(2), own.nextInt(3));
            door.schedules().upsert(promise.definition());
        }

        private void claimSome(Random own) {
            var quota = quota(Order.MAIL, io.carillon.run.Priority.NORMAL, 1 + own.nextInt(20));
            var request = new io.carillon.store.ClaimRequest(node, List.of(quota), Set.of(), null);
            List<Attempt> claimed = new ArrayList<>(door.runs().claim(request).attempts());
            door.runs().claimSuspect(node, Set.of(Order.HANDLER)).ifPresent(claimed::add);
            held.addAll(claimed);
            for (Attempt attempt : claimed) {
                UUID first = runOfInstant.putIfAbsent(
                        attempt.idempotencyKey(), attempt.run().value());
                if (first != null && !first.equals(attempt.run().value()))
                    doubles.add(attempt.idempotencyKey() + " started as " + first + " and "
                            + attempt.run().value());
            }
        }

        private void endSome(Random own) {
            for (int i = own.nextInt(20); i > 0 && !held.isEmpty(); i--) {
                Attempt attempt = held.remove(own.nextInt(held.size()));
                switch (own.nextInt(6)) {
                    case 0 -> apply(attempt, new Transition.Retry(Duration.ofSeconds(own.nextInt(30)), "oops", false));
                    case 1 -> apply(attempt, new Transition.Snooze(Duration.ofSeconds(own.nextInt(30))));
                    case 2 -> apply(attempt, new Transition.Die("no"));
                    case 3 -> door.runs().handBack(node, List.of(attempt));
                    default -> apply(attempt, complete());
                }
            }
        }

        private void apply(Attempt attempt, Transition transition) {
            door.runs().apply(node, List.of(ended(attempt, transition)));
        }

        private void cancelSome(Random own, boolean ahead) {
            Instant now = bench.clock().now();
            var waiting = door.runDesk().list(PROJECT, RunFilter.all().state(RunState.WAITING)).stream()
                    .filter(run -> ahead || !now.isBefore(run.instants().plannedAt()))
                    .toList();
            for (int i = own.nextInt(3); i > 0 && !waiting.isEmpty(); i--)
                door.runDesk()
                        .cancel(
                                PROJECT,
                                waiting.get(own.nextInt(waiting.size())).id(),
                                "enough");
        }

        /** The node dies with all it holds; somebody sweeps, and it is born again. */
        private void die(Random own) {
            if (own.nextInt(3) == 0) {
                door.nodes().retire(node);
                node = node();
                held.clear();
            }
            door.nodes().sweep(3);
        }
    }
}
