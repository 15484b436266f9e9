package io.carillon.cli.dev;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.HandlerOptions;
import io.carillon.Runs;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunContext;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Three schedules that show typical runs: one succeeds, one is dead after retries, one takes 21 seconds
 * and reports progress.
 */
final class DemoSchedules {
    private static final int REPORT_PAGES = 30;
    private static final long PAGE_MILLIS = 700;
    private static final Duration GRACE = Duration.ofSeconds(10);

    private static final Demo HELLO = Demo.named("demo.hello", "*/5 * * * * *", "Hello from Carillon");
    private static final Demo FLAKY = Demo.named("demo.fails", "0 * * * * *", "always fails");
    private static final Demo REPORT = Demo.named("demo.report", "*/30 * * * * *", REPORT_PAGES + " pages");
    private static final List<Demo> ALL = List.of(HELLO, FLAKY, REPORT);

    /** The payload of a demo run. */
    record Note(@Nullable String text) {}

    /** A handler and the schedule of the same name. */
    private record Demo(HandlerType<Note> type, When when, Note note) {
        static Demo named(String name, String cron, String text) {
            return new Demo(HandlerType.of(name, Note.class), When.cron(cron, "UTC"), new Note(text));
        }

        String name() {
            return type.name();
        }
    }

    private final RunActivity activity;

    DemoSchedules(RunActivity activity) {
        this.activity = activity;
    }

    /**
     * Registers the demo handlers. They are registered even without the demo schedules, because runs of an earlier
     * start may still be waiting.
     */
    void addHandlers(CarillonBuilder builder) {
        builder.handle(HELLO.type(), (note, run) -> run.log(note.text() == null ? "Hello" : note.text()))
                .handle(
                        FLAKY.type(),
                        (note, run) -> fail(run),
                        HandlerOptions.defaults()
                                .retry(Retry.exponential(Duration.ofSeconds(2)).attempts(3)))
                .handle(REPORT.type(), (note, run) -> writeReport(run));
    }

    /**
     * Adds the demo schedules. The grace is short, so that one late run replaces all instants missed while the
     * node was stopped.
     */
    void addSchedules(CarillonBuilder builder) {
        for (Demo demo : ALL)
            builder.schedule(
                    demo.name(),
                    demo.when(),
                    demo.type(),
                    demo.note(),
                    ScheduleOptions.defaults().grace(GRACE));
    }

    /**
     * Triggers one run of each schedule, so that the first results appear immediately. A report that an earlier
     * shutdown interrupted is already due and is not triggered again.
     */
    static void trigger(Carillon carillon, Instant now) {
        for (Demo demo : ALL)
            if (!demo.equals(REPORT) || !isRunning(carillon.runs(), now))
                carillon.schedules().trigger(demo.name());
    }

    private static boolean isRunning(Runs runs, Instant now) {
        RunFilter reports = RunFilter.all().handler(REPORT.name());
        return Stream.of(RunState.WAITING, RunState.RUNNING)
                .flatMap(state -> runs.list(reports.state(state)).stream())
                .anyMatch(run -> !run.instants().dueAt().isAfter(now));
    }

    static void remove(Carillon carillon) {
        for (Demo demo : ALL) carillon.schedules().delete(demo.name());
    }

    private static void fail(RunContext run) {
        throw new IllegalStateException("demo.fails fails on purpose (failure %d)".formatted(run.failures() + 1));
    }

    private void writeReport(RunContext run) throws InterruptedException {
        for (int page = 1; page <= REPORT_PAGES; page++) {
            Thread.sleep(PAGE_MILLIS);
            activity.progress(run, page, REPORT_PAGES);
        }
    }
}
