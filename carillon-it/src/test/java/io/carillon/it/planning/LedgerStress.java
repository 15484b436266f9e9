package io.carillon.it.planning;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.LedgerCoverage;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
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
 * A stress test in which several threads plan, edit, pause, resume, backfill, claim, end, cancel, die and rescue at
 * random. The clock stands still during a phase and moves between phases, mostly forward and sometimes an hour back. So
 * the test knows which definition each instant belongs to. T is the cut-off of an edit: the clock or the latest instant
 * that has started.
 */
final class LedgerStress extends PlanningContract {
    private static final int THREADS = 4;
    private static final int STEPS_PER_THREAD = 10;
    private static final List<Duration> CLOCK_STEPS = List.of(
            Duration.ZERO,
            Duration.ofSeconds(3),
            Duration.ofSeconds(20),
            Duration.ofSeconds(100),
            Duration.ofSeconds(400),
            Duration.ofHours(3),
            Duration.ofHours(1),
            Duration.ofHours(-1));

    private static final Instant BEFORE = StoreFixture.NOON.minus(Duration.ofMinutes(20));

    private static final Map<String, List<When>> TIMINGS = Map.of(
            "tens", List.of(When.every(Duration.ofSeconds(10)), When.every(Duration.ofSeconds(15))),
            "cron", List.of(When.cron("*/7 * * * * *", "UTC"), When.cron("30 */2 * * * *", "Europe/Paris")),
            "rare",
                    List.of(
                            When.every(Duration.ofSeconds(45)).jitter(Duration.ofSeconds(20)),
                            When.every(Duration.ofMinutes(10))));

    /** The same instants, computed by arithmetic on seconds alone. The calendar code must agree. */
    private static final Map<String, List<LongPredicate>> ORACLE = Map.of(
            "tens", List.of(second -> second % 10 == 0, second -> second % 15 == 0),
            "cron", List.of(second -> second % 60 % 7 == 0, second -> second % 60 == 30 && second / 60 % 60 % 2 == 0),
            "rare", List.of(second -> second % 45 == 0, second -> second % 600 == 0));

    private final StoreFixture fixture;
    private final Random random;
    private final List<StressThread> stressThreads = new ArrayList<>();
    private final Map<String, List<LedgerCoverage.Span>> spans = new HashMap<>();
    /** For each instant the run of each attempt that started: a claim that was handed back before is no start. */
    private final Map<String, Map<String, UUID>> runsOfInstant = new ConcurrentHashMap<>();
    /** By schedule: the planned instants of claims, except claims handed back before their handler was called. */
    private final Map<String, Map<String, Instant>> started = new ConcurrentHashMap<>();

    private final Map<String, Set<Instant>> backfilled = new ConcurrentHashMap<>();
    private final Map<String, Long> versions = new HashMap<>();
    private final Map<UUID, String> names = new HashMap<>();
    private Instant highest = StoreFixture.NOON;
    private final List<String> duplicates = java.util.Collections.synchronizedList(new ArrayList<>());

    LedgerStress(StoreFixture fixture, long seed) {
        this.fixture = fixture;
        this.random = new Random(seed);
        for (String name : TIMINGS.keySet()) {
            ScheduleSpec spec = scheduleSpec(name, 0, 0);
            names.put(store(spec).id().value(), name);
            spans.put(
                    name,
                    new ArrayList<>(
                            List.of(new LedgerCoverage.Span(StoreFixture.NOON, StoreFixture.NOON, spec.when()))));
        }
        for (int i = 0; i < THREADS; i++)
            stressThreads.add(new StressThread(i % 2 == 0 ? fixture.storage() : fixture.secondStorage()));
    }

    @Override
    public StoreFixture fixture() {
        return fixture;
    }

    private static ScheduleSpec scheduleSpec(String name, int timing, int edition) {
        SchedulePolicies schedulePolicies = SchedulePolicies.defaults()
                .missed(Map.of("rare", MissedPolicy.SKIP, "tens", MissedPolicy.RUN_ONCE, "cron", MissedPolicy.RUN_ALL)
                        .get(name))
                .runAll(new SchedulePolicies.RunAllLimits(5, Duration.ofSeconds(2)));
        return ScheduleSpec.of(TIMINGS.get(name).get(timing))
                .named(name)
                .policies(schedulePolicies)
                .payload("edition " + edition);
    }

    /**
     * Lets all threads act, then moves the clock. A phase has either edits or cancels of future ticks; both together
     * would make T unpredictable.
     */
    void phase() {
        long seed = random.nextLong();
        Instant now = fixture.clock().now();
        if (now.isAfter(highest)) highest = now;
        // After a step back T may be later than the clock, so future ticks must not be cancelled then either.
        boolean edits = random.nextBoolean() || now.isBefore(highest);
        Map<String, Instant> lines = new HashMap<>();
        for (String name : TIMINGS.keySet()) {
            lines.put(name, cutOff(name));
            versions.put(name, schedule(name).version());
        }
        Concurrently.run(THREADS, thread -> {
            Random own = new Random(seed + thread);
            for (int i = 0; i < STEPS_PER_THREAD; i++) stressThreads.get(thread).step(own, edits);
            return null;
        });
        for (String name : TIMINGS.keySet()) if (edits) switchDefinition(name, lines.get(name));
        Duration step = CLOCK_STEPS.get(random.nextInt(CLOCK_STEPS.size()));
        // The clock never moves to before the schedules were created.
        if (now.plus(step).isBefore(StoreFixture.NOON)) return;
        fixture.clock().stopAt(now.plus(step));
        // A plan made in the skipped hour would resolve instants that lie ahead now, and so move T during a phase.
        if (step.isNegative()) stressThreads.forEach(stressThread -> stressThread.stalePlans = List.of());
    }

    private static String claimOf(Attempt attempt) {
        return attempt.run() + " " + attempt.number();
    }

    private String nameOf(Attempt attempt) {
        UUID id = attempt.references().schedule();
        return names.get(id);
    }

    /** Returns T: the clock, or the latest instant that already has a final ledger entry. */
    private Instant cutOff(String name) {
        return ledger(name).stream()
                .filter(entry -> !entry.state().equals("waiting"))
                .map(LedgerEntry::to)
                .reduce(
                        started.getOrDefault(name, Map.of()).values().stream()
                                .reduce(fixture.clock().now(), LedgerStress::later),
                        LedgerStress::later);
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    /** Assigns the instants up to T to the old definition and later ones to the new definition. */
    private void switchDefinition(String name, Instant line) {
        List<LedgerCoverage.Span> known = spans.get(name);
        LedgerCoverage.Span last = known.get(known.size() - 1);
        Schedule schedule = schedule(name);
        When when = schedule.definition().when();
        boolean touched = versions.get(name) != schedule.version();
        if (when.equals(last.when()) && !(touched && line.isBefore(last.after()))) return;
        known.set(known.size() - 1, new LedgerCoverage.Span(last.after(), line, last.when()));
        // After a step back T is earlier than at previous edits: the ticks they left waiting after T now belong to the
        // new definition.
        known.replaceAll(
                span -> line.isBefore(span.until()) ? new LedgerCoverage.Span(span.after(), line, span.when()) : span);
        known.add(new LedgerCoverage.Span(line, line, when));
    }

    /** Ends the test: sets the clock to its latest time, resumes all schedules and plans everything. */
    void finish() {
        fixture.clock().stopAt(later(highest, fixture.clock().now()));
        for (String name : TIMINGS.keySet()) storage().schedules().resume(PROJECT, name);
        planAll();
    }

    List<String> violations() {
        List<String> faults = new ArrayList<>(duplicates);
        runsOfInstant.forEach((instant, runs) -> {
            Set<UUID> different = Set.copyOf(runs.values());
            if (different.size() > 1) faults.add(instant + " started as the runs " + different);
        });
        for (String name : TIMINGS.keySet()) {
            faults.addAll(wrongBackfills(name));
            List<LedgerCoverage.Span> known = spans.get(name);
            LedgerCoverage.Span last = known.get(known.size() - 1);
            Instant cursor = schedule(name).planningState().cursor();
            known.set(known.size() - 1, new LedgerCoverage.Span(last.after(), cursor, last.when()));
            for (LedgerCoverage.Span span : known)
                if (!LedgerCoverage.instants(span).equals(byArithmetic(name, span)))
                    faults.add(name + ": the calendar and the arithmetic differ in " + span);
            List<LedgerEntry> lines = ledger(name).stream()
                    .filter(entry -> entry.from().isAfter(StoreFixture.NOON))
                    .toList();
            LedgerCoverage.violations(lines, known).forEach(fault -> faults.add(name + ": " + fault));
        }
        return faults;
    }

    private static List<Instant> byArithmetic(String name, LedgerCoverage.Span span) {
        LongPredicate fires = ORACLE.get(name).get(TIMINGS.get(name).indexOf(span.when()));
        return LongStream.rangeClosed(
                        span.after().getEpochSecond() + 1, span.until().getEpochSecond())
                .filter(fires)
                .mapToObj(Instant::ofEpochSecond)
                .toList();
    }

    /**
     * Returns a violation unless the entries before the creation of the schedule are exactly the backfilled instants.
     */
    private List<String> wrongBackfills(String name) {
        List<Instant> lines = ledger(name).stream()
                .map(LedgerEntry::from)
                .filter(at -> !at.isAfter(StoreFixture.NOON))
                .sorted()
                .toList();
        List<Instant> expected =
                backfilled.getOrDefault(name, Set.of()).stream().sorted().toList();
        return lines.equals(expected) ? List.of() : List.of(name + ": backfilled " + expected + " but has " + lines);
    }

    /** One thread with its own node, the attempts that the node holds, and a plan that may be outdated. */
    private final class StressThread {
        private final Storage storage;
        private final List<Attempt> held = new ArrayList<>();
        private List<TickPlan> stalePlans = List.of();
        private UUID node = node();

        StressThread(Storage storage) {
            this.storage = storage;
        }

        void step(Random own, boolean edits) {
            switch (own.nextInt(13)) {
                case 0 -> storage.plans().write(plans(storage.plans().due(REACH, 500)));
                case 1 -> storage.plans().write(plans(storage.plans().due(NODE_REACH, 500)));
                case 2 -> {
                    storage.plans().write(stalePlans);
                    stalePlans = plans(storage.plans().due(REACH, 500));
                }
                case 3, 4 -> claimSome(own);
                case 5, 6 -> endSome(own);
                case 7 -> {
                    if (edits) edit(own);
                }
                case 8 ->
                    storage.schedules()
                            .pause(PROJECT, anySchedule(own), new Schedule.Pause(Instant.EPOCH, "x", null, null));
                case 9 -> storage.schedules().resume(PROJECT, anySchedule(own));
                case 10 -> cancelSome(own, !edits);
                case 11 -> {
                    if (!edits) backfill(anySchedule(own), own.nextInt(20));
                }
                default -> die(own);
            }
        }

        private String anySchedule(Random own) {
            return List.copyOf(new java.util.TreeSet<>(TIMINGS.keySet())).get(own.nextInt(TIMINGS.size()));
        }

        private void edit(Random own) {
            ScheduleSpec spec = scheduleSpec(anySchedule(own), own.nextInt(2), own.nextInt(3));
            storage.schedules().upsert(spec.definition());
        }

        /** Runs only in phases without edits, when the definition that the backfill uses is known. */
        private void backfill(String name, int minutes) {
            Instant until = BEFORE.plus(Duration.ofMinutes(minutes));
            storage.schedules().backfill(PROJECT, name, BEFORE, until, true);
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
            var laneClaim = laneClaim(RunSpec.MAIL, io.carillon.run.Priority.NORMAL, 1 + own.nextInt(20));
            var bulk = laneClaim(RunSpec.MAIL, io.carillon.run.Priority.BULK, own.nextInt(20));
            var request =
                    new io.carillon.internal.store.run.ClaimRequest(node, List.of(laneClaim, bulk), Set.of(), null, 0);
            List<Attempt> claimed =
                    new ArrayList<>(storage.runs().claim(request).attempts());
            storage.runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER)).ifPresent(claimed::add);
            held.addAll(claimed);
            for (Attempt attempt : claimed) {
                Instant planned = attempt.times().plannedAt();
                if (attempt.number() == 1 && planned.isAfter(fixture.clock().now()))
                    duplicates.add(attempt.idempotencyKey() + " started before its planned instant");
                started.computeIfAbsent(nameOf(attempt), name -> new ConcurrentHashMap<>())
                        .put(claimOf(attempt), planned);
                runsOfInstant
                        .computeIfAbsent(attempt.idempotencyKey(), key -> new ConcurrentHashMap<>())
                        .put(claimOf(attempt), attempt.run().value());
            }
        }

        private void endSome(Random own) {
            for (int i = own.nextInt(20); i > 0 && !held.isEmpty(); i--) {
                Attempt attempt = held.remove(own.nextInt(held.size()));
                switch (own.nextInt(6)) {
                    case 0 -> apply(attempt, new Transition.Retry(Duration.ofSeconds(own.nextInt(30)), "oops", false));
                    case 1 -> apply(attempt, new Transition.Snooze(Duration.ofSeconds(own.nextInt(30))));
                    case 2 -> apply(attempt, new Transition.MarkDead("no"));
                    case 3 -> handBack(attempt, own.nextBoolean());
                    default -> apply(attempt, complete());
                }
            }
        }

        private void handBack(Attempt attempt, boolean called) {
            Set<RunId> started = called ? Set.of(attempt.run()) : Set.of();
            OwnedRun row = new OwnedRun(PROJECT, attempt.run(), attempt.number());
            int letGo = storage.runs().handBackRows(node, List.of(row), started, true);
            if (called || letGo != 1) return;
            LedgerStress.this.started.get(nameOf(attempt)).remove(claimOf(attempt));
            runsOfInstant.get(attempt.idempotencyKey()).remove(claimOf(attempt));
        }

        private void apply(Attempt attempt, Transition transition) {
            storage.runs().apply(node, List.of(ended(attempt, transition)));
        }

        private void cancelSome(Random own, boolean ahead) {
            Instant now = fixture.clock().now();
            var waiting = storage.runAdmin().list(PROJECT, RunFilter.all().state(RunState.WAITING)).stream()
                    .filter(run -> ahead || !now.isBefore(run.instants().plannedAt()))
                    .toList();
            for (int i = own.nextInt(3); i > 0 && !waiting.isEmpty(); i--)
                storage.runAdmin()
                        .cancel(
                                PROJECT,
                                waiting.get(own.nextInt(waiting.size())).id(),
                                "enough");
        }

        /**
         * In one of three calls, the node retires with all runs it holds and a new node takes its place.
         * Each call rescues.
         */
        private void die(Random own) {
            if (own.nextInt(3) == 0) {
                storage.nodes().retire(node);
                node = node();
                held.clear();
            }
            storage.nodes().rescue(3);
        }
    }
}
