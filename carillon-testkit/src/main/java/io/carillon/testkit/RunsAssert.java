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

/** Assertions on some runs of one handler. Each condition narrows them down, and fails when none is left; the failure shows all of them. */
public final class RunsAssert<T> extends AbstractAssert<RunsAssert<T>, List<KitRun>> {
    /** How far a running clock may have gone on since the run was enqueued. */
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

    public RunsAssert<T> withKey(String key) {
        return narrow(" with key '" + key + "'", run -> key.equals(run.key()));
    }

    public RunsAssert<T> inQueue(String queue) {
        return narrow(" in queue '" + queue + "'", run -> queue.equals(run.queue()));
    }

    /** The handler gets, or would get, something equal to this. Of runs that ended well no payload is kept. */
    public RunsAssert<T> withPayload(T expected) {
        return narrow(
                " with payload " + expected,
                run -> payload.apply(run).filter(expected::equals).isPresent());
    }

    /** The handler gets, or would get, something that meets this condition. Of runs that ended well no payload is kept. */
    public RunsAssert<T> withPayloadThat(Predicate<? super T> condition) {
        return narrow(
                " with a payload that meets the condition",
                run -> payload.apply(run).filter(condition).isPresent());
    }

    /** The payload's text contains this. */
    public RunsAssert<T> withPayloadContaining(String text) {
        return narrow(
                " with a payload containing '" + text + "'",
                run -> run.payload() != null && run.payload().contains(text));
    }

    /** Due after this long from now: exactly if the clock stands still, within two seconds if it runs. */
    public RunsAssert<T> dueIn(Duration duration) {
        Instant due = clock.now().plus(duration);
        Duration tolerance = clock.stands() ? Duration.ZERO : TOLERANCE;
        return narrow(
                " due in %s (at %s)".formatted(duration, due),
                run -> Duration.between(run.dueAt(), due).abs().compareTo(tolerance) <= 0);
    }

    public RunsAssert<T> dueAt(Instant instant) {
        return narrow(" due at " + instant, run -> instant.equals(run.dueAt()));
    }

    public RunsAssert<T> waiting() {
        return inState("waiting");
    }

    public RunsAssert<T> running() {
        return inState("running");
    }

    public RunsAssert<T> succeeded() {
        return inState("succeeded");
    }

    public RunsAssert<T> dead() {
        return inState("dead");
    }

    public RunsAssert<T> cancelled() {
        return inState("cancelled");
    }

    public RunsAssert<T> quarantined() {
        return inState("quarantined");
    }

    /** Its latest attempt has this number. */
    public RunsAssert<T> onAttempt(int attempt) {
        return narrow(" on attempt " + attempt, run -> run.attempt() == attempt);
    }

    /** So many of its attempts failed. */
    public RunsAssert<T> withFailures(int failures) {
        return narrow(" with %d failures".formatted(failures), run -> run.failures() == failures);
    }

    /** Its error, or why it waits, was skipped or cancelled, contains this. */
    public RunsAssert<T> withReasonContaining(String text) {
        return narrow(
                " with a reason containing '" + text + "'",
                run -> run.reason() != null && run.reason().contains(text));
    }

    /** Exactly so many runs meet the conditions so far. */
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
