package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
import io.carillon.store.Ended;
import io.carillon.store.GateName;
import io.carillon.store.RunStore;
import io.carillon.store.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what was decided, in groups as they come: while one group is being committed the next one gathers. A group that could not be written is kept and
 * written again; the fence makes repeating harmless.
 */
final class Completer extends Loop implements AttemptRunner.Finish {
    private static final Logger log = LoggerFactory.getLogger(Completer.class);
    private static final int GROUP = 1_000;
    private static final long LOCKED_PAUSE = 100_000_000L;

    /** One thing to write: a decision, or (null) a hand-back. */
    private record Job(Held held, @Nullable Ended ended) {}

    private final RunStore runs;
    private final Holding holding;
    private final RunListener listener;
    private final ConcurrentLinkedQueue<Job> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger backlog = new AtomicInteger();
    /** Those of the group whose verdict is known: what fails after it must not have them told of twice. */
    private final Set<Held> answered = new HashSet<>();

    /** Decisions about runs that another transaction has locked: tried again beside the others, which do not wait for them. */
    private List<Job> locked = List.of();

    private volatile int lockedCount;
    private long triedLocked;
    private final LongAdder ended = new LongAdder();
    private List<Job> group = List.of();
    private volatile Runnable onWritten = () -> {};
    private volatile BiConsumer<Attempt, Duration> onAgain = (attempt, pause) -> {};
    private volatile Consumer<GateName> onLeft = gate -> {};
    private volatile BiConsumer<Lane, Transition> onEnded = (lane, transition) -> {};

    Completer(RunStore runs, Holding holding, RunListener listener) {
        super("complete", true);
        this.runs = runs;
        this.holding = holding;
        this.listener = listener;
    }

    /** Called after each group: slots and room for claims may be free again. */
    void onWritten(Runnable action) {
        onWritten = action;
    }

    /** Called for each run that will be ready again after a pause. */
    void onAgain(BiConsumer<Attempt, Duration> action) {
        onAgain = action;
    }

    /** Called for each run that came through a gate and may have made room there. */
    void onLeft(Consumer<GateName> action) {
        onLeft = action;
    }

    /** Called for each attempt that has ended, with its lane. */
    void onEnded(BiConsumer<Lane, Transition> action) {
        onEnded = action;
    }

    @Override
    public void submit(Held held, Ended ended) {
        add(new Job(held, ended));
    }

    @Override
    public void handBack(Held held) {
        add(new Job(held, null));
    }

    @Override
    public void done(Held held, Transition transition) {
        holding.remove(held);
        left(held.attemptValue(), transition);
        told(held.attemptValue(), transition, held);
        onWritten.run();
    }

    private void add(Job job) {
        queue.add(job);
        if (backlog.getAndIncrement() == 0) wake();
    }

    /** How many decisions wait to be written. */
    int backlog() {
        return backlog.get() + lockedCount;
    }

    /** How many attempts were ended so far. */
    long ended() {
        return ended.sum();
    }

    @Override
    void turn() throws InterruptedException {
        if (!locked.isEmpty() && System.nanoTime() - triedLocked >= LOCKED_PAUSE) retryLocked();
        if (group.isEmpty()) group = gather();
        if (group.isEmpty()) {
            sleep(locked.isEmpty() ? 1_000_000_000L : LOCKED_PAUSE);
            return;
        }
        write(group);
        backlog.addAndGet(-group.size());
        group = List.of();
        answered.clear();
        onWritten.run();
    }

    private List<Job> gather() {
        List<Job> jobs = new ArrayList<>();
        for (Job next = queue.poll(); next != null; next = queue.poll()) {
            jobs.add(next);
            if (jobs.size() == GROUP) break;
        }
        return jobs;
    }

    private void write(List<Job> jobs) {
        byOwner(jobs).forEach((owner, mine) -> {
            List<Job> decided = mine.stream()
                    .filter(job -> job.ended != null && !answered.contains(job.held))
                    .toList();
            // While one row is locked others may be too: the completer does not wait for each of them again.
            apply(owner, decided, locked.isEmpty());
            holding.handBack(
                    runs,
                    owner,
                    mine.stream()
                            .filter(job -> job.ended == null)
                            .map(Job::held)
                            .toList());
        });
    }

    private static Map<UUID, List<Job>> byOwner(List<Job> jobs) {
        Map<UUID, List<Job>> byOwner = new LinkedHashMap<>();
        for (Job job : jobs)
            byOwner.computeIfAbsent(job.held.owner(), o -> new ArrayList<>()).add(job);
        return byOwner;
    }

    private void apply(UUID owner, List<Job> jobs, boolean wait) {
        if (jobs.isEmpty()) return;
        List<Ended> ended = jobs.stream()
                .map(Job::ended)
                .map(java.util.Objects::requireNonNull)
                .toList();
        List<Verdict> verdicts = wait ? runs.apply(owner, ended) : runs.applyUnlocked(owner, ended);
        Set<Job> later = new LinkedHashSet<>(locked);
        for (int i = 0; i < verdicts.size(); i++) {
            later.remove(jobs.get(i));
            if (verdicts.get(i) == Verdict.LOCKED) {
                answered.add(jobs.get(i).held);
                later.add(jobs.get(i));
            } else settled(jobs.get(i).held, ended.get(i), verdicts.get(i));
        }
        if (locked.isEmpty() && !later.isEmpty())
            log.warn(
                    "endings wait for another transaction runs={} first={}",
                    later.size(),
                    later.iterator().next().held.id());
        locked = List.copyOf(later);
        lockedCount = later.size();
    }

    private void retryLocked() {
        triedLocked = System.nanoTime();
        byOwner(locked).forEach((owner, mine) -> apply(owner, mine, false));
        onWritten.run();
    }

    private void settled(Held held, Ended ended, Verdict verdict) {
        answered.add(held);
        if (verdict == Verdict.ACCEPTED) holding.remove(held);
        else holding.removeUnconfirmed(held);
        if (verdict == Verdict.ACCEPTED) {
            if (ended.transition() instanceof Transition.Retry retry)
                onAgain.accept(held.attemptValue(), retry.pause());
            if (ended.transition() instanceof Transition.Snooze snooze)
                onAgain.accept(held.attemptValue(), snooze.pause());
            left(held.attemptValue(), ended.transition());
            told(held.attemptValue(), ended.transition(), held);
        } else log.warn("result refused, the lease was lost run={} attempt={}", held.id(), held.attempt());
    }

    private void left(Attempt attempt, Transition transition) {
        ended.increment();
        onEnded.accept(attempt.lane(), transition);
        String gate = attempt.gate();
        if (gate != null) onLeft.accept(new GateName(attempt.lane().project(), gate));
    }

    private void told(Attempt attempt, Transition transition, Held held) {
        listener.ended(attempt, transition, held.sinceStart());
    }
}
