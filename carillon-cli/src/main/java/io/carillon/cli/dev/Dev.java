package io.carillon.cli.dev;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.Runs;
import io.carillon.Schema;
import io.carillon.cli.screen.Look;
import io.carillon.cli.screen.Terminal;
import io.carillon.cli.shell.Logs;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.schedule.Schedule;
import io.carillon.server.hooks.ServerWebhooks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts the development node together, shows it until somebody stops it, and takes it apart in the opposite order. */
public final class Dev {
    /** More dead runs than this are not counted at the start. */
    static final int DEAD_COUNTED = 1_000;

    private static final Logger log = LoggerFactory.getLogger(Dev.class);
    private static final int REMEMBERED = 50;
    /** Who tries things out does not want to wait: what takes longer is handed back and runs again at the next start. */
    private static final Duration DRAIN = Duration.ofSeconds(3);

    private final Shell shell;
    private final DevOptions options;
    private final Optional<Terminal> terminal;
    private final Stop stop;
    private final Board board;
    private final long startNanos = System.nanoTime();
    private volatile Consumer<String> warnings;
    private volatile boolean ready;

    public Dev(Shell shell, DevOptions options) {
        this.shell = shell;
        this.options = options;
        this.terminal = options.plain() ? Optional.empty() : Terminal.here(shell.environment());
        this.stop = Stop.forThisThread();
        PlainLines lines = new PlainLines(shell.out(), stop::ask);
        this.board = new Board(shell.clock(), terminal.isPresent() ? event -> {} : lines);
        this.warnings = this::sayWarning;
    }

    /** Returns when it was stopped and everything is closed; the answer is the exit code. */
    public int run() {
        int code = 1;
        try {
            serve();
            code = 0;
        } catch (RuntimeException failure) {
            if (!stop.asked()) throw failure;
            if (ready) say("It did not stop in order: " + failure.getMessage());
            log.info("failed while stopping", failure);
            // Told to stop while it was half started: whatever broke, broke because of that.
            code = ready ? 1 : 0;
        } finally {
            stop.done(code);
        }
        return code;
    }

    private void serve() {
        createDirectory(options.directory());
        Logs.to(options.log(), text -> warnings.accept(text));
        try (DevDatabase database = DevDatabase.open(options, this::step)) {
            Schema tables = Carillon.schema(database.pool());
            int before = tables.number();
            tables.migrate();
            try (ServerWebhooks webhooks = DevWebhooks.on(database, options);
                    Carillon carillon = start(webhooks, database);
                    DevServer server = DevServer.start(carillon, webhooks, database, options)) {
                show(carillon, head(database), schema(before, tables.newest()), server.rest());
            }
        }
        String rest = handedBack(board.handBackTheRest());
        say("Stopped.%s The data stays in %s.".formatted(rest, options.directory()));
    }

    private Carillon start(ServerWebhooks webhooks, DevDatabase database) {
        CarillonBuilder builder =
                webhooks.handleOn(Carillon.on(database.pool()).listener(board).drain(DRAIN));
        DemoSchedules demo = new DemoSchedules(board);
        demo.addHandlers(builder);
        if (options.demo()) demo.addSchedules(builder);
        Carillon carillon = builder.start();
        if (!options.demo()) DemoSchedules.remove(carillon);
        return carillon;
    }

    private void show(Carillon carillon, Picture.Head head, String schema, FirstBlock.Rest rest) {
        remember(carillon.runs());
        List<Schedule> schedules = carillon.schedules().list();
        shell.out().println(new FirstBlock(head, schema, rows(schedules), rest).text());
        if (options.demo()) DemoSchedules.trigger(carillon, shell.clock().instant());
        stop.started();
        ready = true;
        if (terminal.isEmpty()) stop.await();
        else live(terminal.get(), carillon, head.with(rest), schedules);
        say("Stopping: what runs gets up to %d s to finish.".formatted(DRAIN.toSeconds()));
    }

    private void live(Terminal screen, Carillon carillon, Picture.Head head, List<Schedule> schedules) {
        try (Watch watch = Watch.over(carillon, schedules)) {
            warnings = watch::warned;
            Look look = Look.of(shell.environment());
            LiveLoop view = LiveLoop.start(screen, look, () -> picture(head, watch), stop::ask);
            try (view) {
                stop.await();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The live view could not be opened; --plain does without it", e);
        } finally {
            warnings = this::sayWarning;
        }
    }

    private Picture picture(Picture.Head head, Watch watch) {
        return new Picture(
                head,
                Duration.ofNanos(System.nanoTime() - startNanos),
                rows(watch.schedules()),
                board.running(),
                board.last(),
                board.tally(),
                watch.condition());
    }

    private void remember(Runs runs) {
        RunFilter filter = RunFilter.all();
        List<Run> succeeded = runs.list(filter.state(RunState.SUCCEEDED).limit(REMEMBERED));
        List<Run> dead = runs.list(filter.state(RunState.DEAD).limit(DEAD_COUNTED));
        board.remember(Stream.concat(succeeded.stream(), dead.stream()).toList(), dead.size());
    }

    private List<Picture.Row> rows(List<Schedule> schedules) {
        Instant now = shell.clock().instant();
        return schedules.stream()
                .map(schedule -> ScheduleText.row(schedule, now))
                .toList();
    }

    private Picture.Head head(DevDatabase database) {
        String kind = database.isEmbedded() ? "embedded PostgreSQL " : "PostgreSQL ";
        return new Picture.Head(
                options.version(),
                kind + database.version() + " on " + database.address(),
                options.directory().toString(),
                options.log().toString());
    }

    private static String schema(int before, int after) {
        if (before == 0) return "created, number " + after;
        return before >= after ? "up to date, number " + before : "brought from number " + before + " to " + after;
    }

    private static String handedBack(int runs) {
        if (runs == 0) return "";
        return runs == 1
                ? " One run was handed back and runs again at the next start."
                : " %d runs were handed back and run again at the next start.".formatted(runs);
    }

    private static void createDirectory(Path directory) {
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UsageException(
                    "The directory %s cannot be made: %s. Choose another with --data.".formatted(directory, e), e);
        }
    }

    private void step(String what) {
        String words = what.equals("starting") ? "starting PostgreSQL" : what;
        say(Character.toUpperCase(words.charAt(0)) + words.substring(1) + "...");
    }

    private void sayWarning(String text) {
        say(PlainLines.time(shell.clock().instant()) + " " + text);
    }

    private void say(String text) {
        shell.err().println(text);
    }
}
