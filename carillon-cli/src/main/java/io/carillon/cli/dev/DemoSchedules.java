package io.carillon.cli.dev;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.Runs;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunContext;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/** Three schedules that show what runs can come to: one succeeds, one dies after retries, one takes a while and tells how far it is. */
final class DemoSchedules {
    private static final int REPORT_PAGES = 30;
    private static final long PAGE_MILLIS = 700;
    private static final Duration GRACE = Duration.ofSeconds(10);

    private static final Demo HELLO = Demo.named("demo.hello", "*/5 * * * * *", "Hello from Carillon");
    private static final Demo FLAKY = Demo.named("demo.flaky", "0 * * * * *", "always fails");
    private static final Demo REPORT = Demo.named("demo.report", "*/30 * * * * *", REPORT_PAGES + " pages");
    private static final List<Demo> ALL = List.of(HELLO, FLAKY, REPORT);

    /** What a demo run carries. */
    record Note(String text) {}

    /** A handler and the schedule of the same name. */
    private record Demo(HandlerType<Note> type, When when, Note note) {
        static Demo named(String name, String cron, String text) {
            return new Demo(HandlerType.of(name, Note.class), When.cron(cron, "UTC"), new Note(text));
        }

        String name() {
            return type.name();
        }
    }

    private final Board board;

    DemoSchedules(Board board) {
        this.board = board;
    }

    /** Runs of an earlier start may still wait: their handlers are there even if the schedules are not wanted. */
    void addHandlers(CarillonBuilder builder) {
        builder.handle(HELLO.type(), (note, run) -> run.log(note.text()))
                .handle(
                        FLAKY.type(),
                        (note, run) -> fail(run),
                        options -> options.retry(
                                Retry.exponential(Duration.ofSeconds(2)).attempts(3)))
                .handle(REPORT.type(), (note, run) -> write(run));
    }

    /** A short grace: after a break what was missed is made up for by one run, instead of one for each instant of the last minutes. */
    void addSchedules(CarillonBuilder builder) {
        for (Demo demo : ALL)
            builder.schedule(demo.name(), demo.when(), demo.type(), demo.note(), options -> options.grace(GRACE));
    }

    /** One run of each now: nobody should have to wait for the first. A long one that an earlier stop handed back will do. */
    static void trigger(Carillon carillon, Instant now) {
        for (Demo demo : ALL)
            if (!demo.equals(REPORT) || !isAtWork(carillon.runs(), now))
                carillon.schedules().trigger(demo.name());
    }

    private static boolean isAtWork(Runs runs, Instant now) {
        RunFilter reports = RunFilter.all().handler(REPORT.name());
        return Stream.of(RunState.WAITING, RunState.RUNNING)
                .flatMap(state -> runs.list(reports.state(state)).stream())
                .anyMatch(run -> !run.instants().dueAt().isAfter(now));
    }

    static void remove(Carillon carillon) {
        for (Demo demo : ALL) carillon.schedules().delete(demo.name());
    }

    private static void fail(RunContext run) {
        throw new IllegalStateException("demo.flaky fails on purpose, time %d".formatted(run.failures() + 1));
    }

    private void write(RunContext run) throws InterruptedException {
        for (int page = 1; page <= REPORT_PAGES; page++) {
            Thread.sleep(PAGE_MILLIS);
            board.progress(run, page, REPORT_PAGES);
        }
    }
}
