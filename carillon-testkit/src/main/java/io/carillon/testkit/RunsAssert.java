package io.carillon.testkit;

import io.carillon.run.HandlerType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.assertj.core.api.AbstractAssert;

/**
 * Assertions on runs of one handler. Each condition filters the runs, and fails if none is left. The failure message
 * shows all runs of the handler.
 */
public final class RunsAssert<T> extends AbstractAssert<RunsAssert<T>, List<KitRun>> {
    /** How far a running clock may have advanced since the run was enqueued. */
    private static final Duration TOLERANCE = Duration.ofSeconds(2);

    private final TestClock clock;
    private final List<KitRun> all;
    private final String wanted;
    private final Function<KitRun, Optional<T>> payload;

    private RunsAssert(
            TestClock clock,
            List<KitRun> all,
            List<KitRun> left,
            String wanted,
            Function<KitRun, Optional<T>> payload) {
        super(left, RunsAssert.class);
        this.clock = clock;
        this.all = all;
        this.wanted = wanted;
        this.payload = payload;
    }

    static <T> RunsAssert<T> of(CarillonKit kit, HandlerType<T> type) {
        List<KitRun> runs = kit.runs(type);
        return new RunsAssert<>(kit.clock(), runs, runs, "a run of " + type.name(), run -> kit.payload(type, run))
                .narrow("", run -> true);
    }

    /** Keeps runs with this unique key. */
    public RunsAssert<T> withUniqueKey(String key) {
        return narrow(" with unique key '" + key + "'", run -> key.equals(run.uniqueKey()));
    }

    /** Keeps runs in this queue. */
    public RunsAssert<T> inQueue(String queue) {
        return narrow(" in queue '" + queue + "'", run -> queue.equals(run.queue()));
    }

    /** Keeps runs whose payload equals this value. The payloads of succeeded runs are not kept. */
    public RunsAssert<T> withPayload(T expected) {
        return narrow(
                " with payload " + expected,
                run -> payload.apply(run).filter(expected::equals).isPresent());
    }

    /** Keeps runs whose payload meets this condition. The payloads of succeeded runs are not kept. */
    public RunsAssert<T> withPayloadThat(Predicate<? super T> condition) {
        return narrow(
                " with a payload that meets the condition",
                run -> payload.apply(run).filter(condition).isPresent());
    }

    /** Keeps runs whose payload contains this text. */
    public RunsAssert<T> withPayloadContaining(String text) {
        return narrow(
                " with a payload containing '" + text + "'",
                run -> run.payload() != null && run.payload().contains(text));
    }

    /** Keeps runs that are due after this duration: exactly if the clock is stopped, within two seconds if it runs. */
    public RunsAssert<T> dueIn(Duration duration) {
        Instant due = clock.now().plus(duration);
        Duration tolerance = clock.isStopped() ? Duration.ZERO : TOLERANCE;
        return narrow(
                " due in %s (at %s)".formatted(duration, due),
                run -> Duration.between(run.dueAt(), due).abs().compareTo(tolerance) <= 0);
    }

    /** Keeps runs that are due at this instant. */
    public RunsAssert<T> dueAt(Instant instant) {
        return narrow(" due at " + instant, run -> instant.equals(run.dueAt()));
    }

    /** Keeps waiting runs. */
    public RunsAssert<T> waiting() {
        return inState("waiting");
    }

    /** Keeps running runs. */
    public RunsAssert<T> running() {
        return inState("running");
    }

    /** Keeps succeeded runs. */
    public RunsAssert<T> succeeded() {
        return inState("succeeded");
    }

    /** Keeps dead runs. */
    public RunsAssert<T> dead() {
        return inState("dead");
    }

    /** Keeps cancelled runs. */
    public RunsAssert<T> cancelled() {
        return inState("cancelled");
    }

    /** Keeps quarantined runs. */
    public RunsAssert<T> quarantined() {
        return inState("quarantined");
    }

    /** Keeps runs whose latest attempt has this number. */
    public RunsAssert<T> onAttempt(int attempt) {
        return narrow(" on attempt " + attempt, run -> run.attempt() == attempt);
    }

    /** Keeps runs with this number of failed attempts. */
    public RunsAssert<T> withFailures(int failures) {
        return narrow(" with %d failures".formatted(failures), run -> run.failures() == failures);
    }

    /** Keeps runs whose error, or whose reason for waiting, being skipped or being cancelled, contains this text. */
    public RunsAssert<T> withReasonContaining(String text) {
        return narrow(
                " with a reason containing '" + text + "'",
                run -> run.reason() != null && run.reason().contains(text));
    }

    /** Verifies that exactly this many runs meet the conditions so far. */
    public RunsAssert<T> times(int count) {
        if (actual.size() != count)
            failWithMessage("Expected %s %d times, found %d in:%s", wanted, count, actual.size(), shown());
        return this;
    }

    private RunsAssert<T> inState(String state) {
        return narrow(" that is " + state, run -> state.equals(run.state()));
    }

    private RunsAssert<T> narrow(String condition, Predicate<KitRun> which) {
        List<KitRun> left = actual.stream().filter(which).toList();
        if (left.isEmpty()) failWithMessage("Expected %s, found:%s", wanted + condition, shown());
        return new RunsAssert<>(clock, all, left, wanted + condition, payload);
    }

    private String shown() {
        if (all.isEmpty()) return " no run of this handler";
        return all.stream().map(run -> System.lineSeparator() + "  " + run).collect(Collectors.joining());
    }
}
