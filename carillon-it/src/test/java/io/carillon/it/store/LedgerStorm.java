package io.carillon.it.store;

import io.carillon.run.Attempt;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Policies;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import io.carillon.schedule.When;
import io.carillon.store.HeldRun;
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
import java.util.function.LongPredicate;
import java.util.stream.LongStream;

/**
 * Several threads plan, edit, pause, resume, backfill, claim, end, cancel, die and sweep at random. The clock stands while they do and moves between the
 * phases, mostly forward and sometimes an hour back, so that it is known which definition each instant belongs to.
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
            Duration.ofHours(3),
            Duration.ofHours(1),
            Duration.ofHours(-1));

    private static final Instant BEFORE = StoreBench.NOON.minus(Duration.ofMinutes(20));

    private static final Map<String, List<When>> TIMINGS = Map.of(
            "tens", List.of(When.every(Duration.ofSeconds(10)), When.every(Duration.ofSeconds(15))),
            "cron", List.of(When.cron("*/7 * * * * *", "UTC"), When.cron("30 */2 * * * *", "Europe/Paris")),
            "rare",
                    List.of(
                            When.every(Duration.ofSeconds(45)).jitter(Duration.ofSeconds(20)),
                            When.every(Duration.ofMinutes(10))));

    /** The same instants once more, by nothing but arithmetic on seconds: what the calendar says must agree. */
    private static final Map<String, List<LongPredicate>> ORACLE = Map.of(
            "tens", List.of(second -> second % 10 == 0, second -> second % 15 == 0),
            "cron", List.of(second -> second % 60 % 7 == 0, second -> second % 60 == 30 && second / 60 % 60 % 2 == 0),
            "rare", List.of(second -> second % 45 == 0, second -> second % 600 == 0));

    private final StoreBench bench;
    private final Random random;
    private final List<Sailor> sailors = new ArrayList<>();
    private final Map<String, List<Coverage.Span>> spans = new HashMap<>();
    private final Map<String, UUID> runOfInstant = new ConcurrentHashMap<>();
    /** By schedule: the instants of claims, without those that were handed back before their handler was called. */
    private final Map<String, Map<String, Instant>> started = new ConcurrentHashMap<>();

    private final Map<String, Set<Instant>> backfilled = new ConcurrentHashMap<>();
    private final Map<String, Long> versions = new HashMap<>();
    private final Map<UUID, String> names = new HashMap<>();
    private Instant highest = StoreBench.NOON;
    private final List<String> doubles = java.util.Collections.synchronizedList(new ArrayList<>());

    LedgerStorm(StoreBench bench, long seed) {
        this.bench = bench;
        this.random = new Random(seed);
        for (String name : TIMINGS.keySet()) {
            Promise promise = promise(name, 0, 0);
            names.put(store(promise).id().value(), name);
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
        Instant now = bench.clock().now();
        if (now.isAfter(highest)) highest = now;
        // After a step back T may lie ahead of the clock: nobody may cancel ahead then, either.
        boolean edits = random.nextBoolean() || now.isBefore(highest);
        Map<String, Instant> lines = new HashMap<>();
        for (String name : TIMINGS.keySet()) {
            lines.put(name, line(name));
            versions.put(name, schedule(name).version());
        }
        Together.run(THREADS, thread -> {
            Random own = new Random(seed + thread);
            for (int i = 0; i < DEEDS; i++) sailors.get(thread).deed(own, edits);
            return null;
        });
        for (String name : TIMINGS.keySet()) if (edits) turn(name, lines.get(name));
        Duration step = STEPS.get(random.nextInt(STEPS.size()));
        // Never to before the schedules were there.
        if (now.plus(step).isBefore(StoreBench.NOON)) return;
        bench.clock().at(now.plus(step));
        // What a plan of the hour ahead settles would move T in the midst of a phase.
        if (step.isNegative()) sailors.forEach(sailor -> sailor.stalled = List.of());
    }

    private static String claimOf(Attempt attempt) {
        return attempt.run() + " " + attempt.number();
    }

    private String nameOf(Attempt attempt) {
        UUID id = attempt.link().schedule();
        return names.get(id);
    }

    /** T: the clock, or the latest instant that has its line already. */
    private Instant line(String name) {
        return ledger(name).stream()
                .filter(entry -> !entry.state().equals("waiting"))
                .map(LedgerEntry::to)
                .reduce(
                        started.getOrDefault(name, Map.of()).values().stream()
                                .reduce(bench.clock().now(), LedgerStorm::later),
                        LedgerStorm::later);
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    /** Instants up to T are the business of the definition that held before. */
    private void turn(String name, Instant line) {
        List<Coverage.Span> known = spans.get(name);
        Coverage.Span last = known.get(known.size() - 1);
        Schedule schedule = schedule(name);
        When when = schedule.definition().when();
        boolean touched = versions.get(name) != schedule.version();
        if (when.equals(last.when()) && !(touched && line.isBefore(last.after()))) return;
        known.set(known.size() - 1, new Coverage.Span(last.after(), line, last.when()));
        // After a step back T lies before that of earlier edits: what they left waiting behind it is promised anew.
        known.replaceAll(
                span -> line.isBefore(span.until()) ? new Coverage.Span(span.after(), line, span.when()) : span);
        known.add(new Coverage.Span(line, line, when));
    }

    /** The storm is over: everything is resumed and planned. */
    void calm() {
        bench.clock().at(later(highest, bench.clock().now()));
        for (String name : TIMINGS.keySet()) storage().schedules().resume(PROJECT, name);
        planAll();
    }

    List<String> faults() {
        List<String> faults = new ArrayList<>(doubles);
        for (String name : TIMINGS.keySet()) {
            faults.addAll(wrongBackfills(name));
            List<Coverage.Span> known = spans.get(name);
            Coverage.Span last = known.get(known.size() - 1);
            Instant cursor = schedule(name).progress().cursor();
            known.set(known.size() - 1, new Coverage.Span(last.after(), cursor, last.when()));
            for (Coverage.Span span : known)
                if (!Coverage.instants(span).equals(byArithmetic(name, span)))
                    faults.add(name + ": the calendar and the oracle differ about " + span);
            List<LedgerEntry> lines = ledger(name).stream()
                    .filter(entry -> entry.from().isAfter(StoreBench.NOON))
                    .toList();
            Coverage.faults(lines, known).forEach(fault -> faults.add(name + ": " + fault));
        }
        return faults;
    }

    private static List<Instant> byArithmetic(String name, Coverage.Span span) {
        LongPredicate fires = ORACLE.get(name).get(TIMINGS.get(name).indexOf(span.when()));
        return LongStream.rangeClosed(
                        span.after().getEpochSecond() + 1, span.until().getEpochSecond())
                .filter(fires)
                .mapToObj(Instant::ofEpochSecond)
                .toList();
    }

    /** Before the schedule was there nothing has a line but what was backfilled, and that has one. */
    private List<String> wrongBackfills(String name) {
        List<Instant> lines = ledger(name).stream()
                .map(LedgerEntry::from)
                .filter(at -> !at.isAfter(StoreBench.NOON))
                .sorted()
                .toList();
        List<Instant> expected =
                backfilled.getOrDefault(name, Set.of()).stream().sorted().toList();
        return lines.equals(expected) ? List.of() : List.of(name + ": backfilled " + expected + " but has " + lines);
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
            switch (own.nextInt(13)) {
                case 0 -> door.plans().write(plans(door.plans().due(REACH, 500)));
                case 1 -> door.plans().write(plans(door.plans().due(NEAR, 500)));
                case 2 -> {
                    door.plans().write(stalled);
                    stalled = plans(door.plans().due(REACH, 500));
                }
                case 3, 4 -> claimSome(own);
                case 5, 6 -> endSome(own);
                case 7 -> {
                    if (edits) edit(own);
                }
                case 8 -> door.schedules().pause(PROJECT, any(own), new Schedule.Pause(Instant.EPOCH, "x", null, null));
                case 9 -> door.schedules().resume(PROJECT, any(own));
                case 10 -> cancelSome(own, !edits);
                case 11 -> {
                    if (!edits) backfill(any(own), own.nextInt(20));
                }
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

        /** While nobody edits it is known by which definition. */
        private void backfill(String name, int minutes) {
            Instant until = BEFORE.plus(Duration.ofMinutes(minutes));
            door.schedules().backfill(PROJECT, name, BEFORE, until, true);
            When when = schedule(name).definition().when();
            int timing = TIMINGS.get(name).indexOf(when);
            LongStream.rangeClosed(BEFORE.getEpochSecond(), until.getEpochSecond())
                    .filter(ORACLE.get(name).get(timing))
                    .mapToObj(Instant::ofEpochSecond)
                    .forEach(at -> backfilled
                            .computeIfAbsent(name, n -> ConcurrentHashMap.newKeySet())
                            .add(at));
        }

        private void claimSome(Random own) {
            var quota = quota(Order.MAIL, io.carillon.run.Priority.NORMAL, 1 + own.nextInt(20));
            var bulk = quota(Order.MAIL, io.carillon.run.Priority.BULK, own.nextInt(20));
            var request = new io.carillon.store.ClaimRequest(node, List.of(quota, bulk), Set.of(), null, 0);
            List<Attempt> claimed = new ArrayList<>(door.runs().claim(request).attempts());
            door.runs().claimSuspect(node, Set.of(Order.HANDLER)).ifPresent(claimed::add);
            held.addAll(claimed);
            for (Attempt attempt : claimed) {
                Instant planned = attempt.times().plannedAt();
                if (attempt.number() == 1 && planned.isAfter(bench.clock().now()))
                    doubles.add(attempt.idempotencyKey() + " started before its time");
                started.computeIfAbsent(nameOf(attempt), name -> new ConcurrentHashMap<>())
                        .put(claimOf(attempt), planned);
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
                    case 3 -> handBack(attempt, own.nextBoolean());
                    default -> apply(attempt, complete());
                }
            }
        }

        private void handBack(Attempt attempt, boolean called) {
            Set<RunId> started = called ? Set.of(attempt.run()) : Set.of();
            HeldRun row = new HeldRun(PROJECT, attempt.run(), attempt.number());
            int letGo = door.runs().handBackRows(node, List.of(row), started, true);
            if (!called && letGo == 1)
                LedgerStorm.this.started.get(nameOf(attempt)).remove(claimOf(attempt));
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
