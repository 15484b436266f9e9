package io.carillon.engine;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.RunId;
import io.carillon.store.RunStore;
import io.carillon.store.Suspicion;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Watches running attempts: interrupts those past their deadline, ends those that do not obey, and parks those that run long out of the claim's way. */
final class Warden extends Loop {
    private static final Logger log = LoggerFactory.getLogger(Warden.class);
    private static final Duration OBEY = Duration.ofSeconds(5);
    private static final long ROUND_NANOS = 250_000_000L;

    private final RunStore runs;
    private final Holding holding;
    private final AttemptRunner runner;
    private final Workers workers;
    private final Consumer<Lane> slow;

    /** {@code slow}: told of each lane with a run that takes its time. */
    Warden(RunStore runs, Holding holding, AttemptRunner runner, Workers workers, Consumer<Lane> slow) {
        super("warden", true);
        this.runs = runs;
        this.holding = holding;
        this.runner = runner;
        this.workers = workers;
        this.slow = slow;
    }

    @Override
    void turn() throws InterruptedException {
        for (Held held : holding.all()) if (held.started()) watch(held);
        park();
        // A lane may have been given more slots since.
        workers.look();
        sleep(ROUND_NANOS);
    }

    private void watch(Held held) {
        Duration since = held.sinceStart();
        if (since.compareTo(ReadyQueue.SLOW) >= 0 && held.running())
            slow.accept(held.attemptValue().lane());
        if (disobeys(held)) {
            if (held.abandon()) workers.stuck(held);
            runner.endByForce(held);
        }
    }

    /** Interrupts an attempt past its deadline, and ends one that ignored the interrupt. */
    static void stopLate(Held held, AttemptRunner runner) {
        if (disobeys(held)) runner.endByForce(held);
    }

    private static boolean disobeys(Held held) {
        if (held.sinceStart().compareTo(held.timeout()) > 0)
            held.stop(Held.Stop.TIMED_OUT, "timed out after " + held.timeout());
        Held.Stop stop = held.stopped();
        boolean forced = stop == Held.Stop.TIMED_OUT || stop == Held.Stop.CANCELLED;
        if (!forced || held.sinceStop().compareTo(OBEY) < 0 || !held.running()) return false;
        log.warn(
                "handler ignored the interrupt; attempt ended by the engine run={} attempt={}",
                held.id(),
                held.attempt());
        return true;
    }

    private void park() {
        List<Held> due = holding.all().stream()
                .filter(held -> held.started()
                        && !held.parked()
                        && held.sinceStart().compareTo(patience(held.attemptValue())) > 0)
                .toList();
        due.stream().collect(Collectors.groupingBy(Held::owner)).forEach((UUID owner, List<Held> mine) -> {
            Set<RunId> parked = runs.parkRunning(
                    owner, mine.stream().map(Held::attemptValue).toList());
            mine.stream().filter(held -> parked.contains(held.id())).forEach(Held::markParked);
        });
    }

    /** A suspect keeps its mark for as long as it is on probation. */
    private static Duration patience(Attempt attempt) {
        return Suspicion.probation(attempt.counts().suspicions());
    }
}
